#pragma once
#error "cuBLAS is not supported by the simulator; write the product as a kernel"
