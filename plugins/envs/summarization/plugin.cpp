#include "summarization.hpp"

BP_PLUGINS(bp::EnvBatch<backplane::summarization::Summarization>);
