// The workspaces: each draws one frame out of the state and the model, and gives back commands.
#pragma once

#include "viz/bench/workspace.h"
#include "viz/learn/workspace.h"
#include "viz/profile/workspace.h"
#include "viz/step/workspace.h"
