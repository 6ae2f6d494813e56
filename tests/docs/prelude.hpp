// What every snippet of the documentation may take for granted: docs_test includes it before them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <holdfast/clock.hpp>
#include <holdfast/failure.hpp>
#include <holdfast/log.hpp>
#include <holdfast/result.hpp>
#include <holdfast/time.hpp>
#include <holdfast/verdict.hpp>

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace std::string_view_literals;
