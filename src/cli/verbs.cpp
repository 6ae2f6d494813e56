#include "cli/verbs.hpp"
