// ray_workers.py, which a trial starts where its workers are actors of Ray.
#pragma once

namespace backplane {

extern const char kRayWorkersProgram[];

}  // namespace backplane
