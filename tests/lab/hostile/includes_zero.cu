#include "../common/step.h"
#include "/dev/zero"
