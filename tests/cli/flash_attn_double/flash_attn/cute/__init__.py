from .interface import flash_attn_func  # noqa: F401
