"""The sources that the chapter cites, by the names that the template gives them."""

WHITEPAPER = ("https://github.com/NVIDIA/cuda-samples/blob/f5cb14f3aa1aefa07059c287f0e875ada3ecde14/"
              "Samples/6_Performance/transpose/doc/MatrixTranspose.pdf")

REFERENCES = {
    "whitepaper": f"G. Ruetsch and P. Micikevicius, [*Optimizing Matrix Transpose in CUDA*]({WHITEPAPER}). NVIDIA, "
                  "2009; revised edition of June 2010. The *whitepaper*.",
    "sample": "NVIDIA, [CUDA Samples, *transpose*](https://github.com/NVIDIA/cuda-samples/tree/"
              "f5cb14f3aa1aefa07059c287f0e875ada3ecde14/Samples/6_Performance/transpose). "
              "The program of the whitepaper, as it is shipped.",
    "harris": "M. Harris, [*An Efficient Matrix Transpose in CUDA "
              "C/C++*](https://developer.nvidia.com/blog/efficient-matrix-transpose-cuda-cc/). NVIDIA developer blog.",
    "book": "M. Fang, W. Zhang, J. Fang and H. Zhou, *GPU 编程与优化: 大众高性能计算* (GPU programming and "
            "optimization). Tsinghua University Press, 2016. Chapter 9, with sections of chapters 15 to 17. The "
            "*book*.",
    "bandwidth-post": "T. Tan, [CUDA basics 4.4, *The bandwidth a kernel can "
                      "reach*](https://face2ai.com/CUDA-F-4-4-核函数可达到的带宽/). 2018, in Chinese; "
                      "[its programs](https://github.com/Tony-Tan/CUDA_Freshman). The *bandwidth post*.",
    "coalescing-notes": "*CUDA notes 2: using global memory well, coalescing and `__ldg()`*. A blog post of 2023, "
                        "in Chinese. The *coalescing notes*.",
    "remap-post": "*CUDA matrix transpose using shared memory*. A blog post, in Chinese. The *remap post*.",
    "guide": "NVIDIA, [*CUDA C++ Programming Guide*](https://docs.nvidia.com/cuda/cuda-c-programming-guide/).",
    "ncu": "NVIDIA, "
           "[Nsight Compute, *Profiling Guide*](https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html).",
    "jain": "S. Jain, I. Baek, S. Wang and R. Rajkumar, [*Fractional GPUs: Software-based Compute and Memory Bandwidth "
            "Reservation for GPUs*](https://github.com/sakjain92/Fractional-GPUs). IEEE Real-Time and Embedded "
            "Technology and Applications Symposium, 2019, pages 29 to 41.",
}
