// ray_driver.py as it was when this program was built.
#pragma once

namespace backplane {

extern const char* const kRayDriver;

}  // namespace backplane
