"""Stands in for the build backend of imgui-bundle while pip downloads it.

pip asks a source package's backend for its metadata. The real one comes with 30 MB of
build tools that we do not use: we want the sources, not a Python module.
"""

import os


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    name = "imgui_bundle-1.93.0.dist-info"
    os.makedirs(os.path.join(metadata_directory, name), exist_ok=True)
    with open(os.path.join(metadata_directory, name, "METADATA"), "w", encoding="utf-8") as file:
        file.write("Metadata-Version: 2.1\nName: imgui-bundle\nVersion: 1.93.0\n")
    return name
