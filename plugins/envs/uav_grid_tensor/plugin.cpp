#include "grid.hpp"

BP_PLUGINS(bp::EnvBatch<backplane::uav_grid_tensor::TensorGrid>);
