// The errors of the CUDA runtime that a program may name: ERROR(name behind cudaError, number, what cudaGetErrorString
// gives).

#pragma once

#define SIM_CUDA_ERRORS(ERROR) \
    ERROR(InvalidValue, 1, "invalid argument") \
    ERROR(MemoryAllocation, 2, "out of memory") \
    ERROR(InitializationError, 3, "initialization error") \
    ERROR(CudartUnloading, 4, "driver shutting down") \
    ERROR(ProfilerDisabled, 5, "profiler disabled while using external profiling tool") \
    ERROR(ProfilerNotInitialized, 6, "profiler not initialized: call cudaProfilerInitialize()") \
    ERROR(ProfilerAlreadyStarted, 7, "profiler already started") \
    ERROR(ProfilerAlreadyStopped, 8, "profiler already stopped") \
    ERROR(InvalidConfiguration, 9, "invalid configuration argument") \
    ERROR(InvalidPitchValue, 12, "invalid pitch argument") \
    ERROR(InvalidSymbol, 13, "invalid device symbol") \
    ERROR(InvalidHostPointer, 16, "invalid host pointer") \
    ERROR(InvalidDevicePointer, 17, "invalid device pointer") \
    ERROR(InvalidTexture, 18, "invalid texture reference") \
    ERROR(InvalidTextureBinding, 19, "texture is not bound to a pointer") \
    ERROR(InvalidChannelDescriptor, 20, "invalid channel descriptor") \
    ERROR(InvalidMemcpyDirection, 21, "invalid copy direction for memcpy") \
    ERROR(InvalidFilterSetting, 26, "linear filtering not supported for non-float type") \
    ERROR(InvalidNormSetting, 27, "read as normalized float not supported for data type") \
    ERROR(NotYetImplemented, 31, "feature not yet implemented") \
    ERROR(StubLibrary, 34, "CUDA driver is a stub library") \
    ERROR(InsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version") \
    ERROR(CallRequiresNewerDriver, 36, "API call is not supported in the installed CUDA driver") \
    ERROR(InvalidSurface, 37, "invalid surface reference") \
    ERROR(DuplicateVariableName, 43, "duplicate global variable looked up by string name") \
    ERROR(DuplicateTextureName, 44, "duplicate texture looked up by string name") \
    ERROR(DuplicateSurfaceName, 45, "duplicate surface looked up by string name") \
    ERROR(DevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable") \
    ERROR(IncompatibleDriverContext, 49, "incompatible driver context") \
    ERROR(MissingConfiguration, 52, "__global__ function call is not configured") \
    ERROR(PriorLaunchFailure, 53, "unspecified launch failure in prior launch") \
    ERROR(LaunchMaxDepthExceeded, 65, "launch would exceed maximum depth of nested launches") \
    ERROR(LaunchPendingCountExceeded, 69, \
          "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount") \
    ERROR(InvalidDeviceFunction, 98, "invalid device function") \
    ERROR(NoDevice, 100, "no CUDA-capable device is detected") \
    ERROR(InvalidDevice, 101, "invalid device ordinal") \
    ERROR(DeviceNotLicensed, 102, "device doesn't have valid Grid license") \
    ERROR(StartupFailure, 127, "startup failure in cuda runtime") \
    ERROR(InvalidKernelImage, 200, "device kernel image is invalid") \
    ERROR(DeviceUninitialized, 201, "invalid device context") \
    ERROR(MapBufferObjectFailed, 205, "mapping of buffer object failed") \
    ERROR(UnmapBufferObjectFailed, 206, "unmapping of buffer object failed") \
    ERROR(NoKernelImageForDevice, 209, "no kernel image is available for execution on the device") \
    ERROR(ECCUncorrectable, 214, "uncorrectable ECC error encountered") \
    ERROR(UnsupportedLimit, 215, "limit is not supported on this architecture") \
    ERROR(DeviceAlreadyInUse, 216, "exclusive-thread device already in use by a different thread") \
    ERROR(PeerAccessUnsupported, 217, "peer access is not supported between these two devices") \
    ERROR(InvalidPtx, 218, "a PTX JIT compilation failed") \
    ERROR(InvalidGraphicsContext, 219, "invalid OpenGL or DirectX context") \
    ERROR(InvalidSource, 300, "device kernel image is invalid") \
    ERROR(FileNotFound, 301, "file not found") \
    ERROR(SharedObjectSymbolNotFound, 302, "shared object symbol not found") \
    ERROR(SharedObjectInitFailed, 303, "shared object initialization failed") \
    ERROR(OperatingSystem, 304, "OS call failed or operation not supported on this OS") \
    ERROR(InvalidResourceHandle, 400, "invalid resource handle") \
    ERROR(IllegalState, 401, "the operation cannot be performed in the present state") \
    ERROR(SymbolNotFound, 500, "named symbol not found") \
    ERROR(NotReady, 600, "device not ready") \
    ERROR(IllegalAddress, 700, "an illegal memory access was encountered") \
    ERROR(LaunchOutOfResources, 701, "too many resources requested for launch") \
    ERROR(LaunchTimeout, 702, "the launch timed out and was terminated") \
    ERROR(LaunchIncompatibleTexturing, 703, "launch uses incompatible texturing mode") \
    ERROR(PeerAccessAlreadyEnabled, 704, "peer access is already enabled") \
    ERROR(PeerAccessNotEnabled, 705, "peer access has not been enabled") \
    ERROR(SetOnActiveProcess, 708, "cannot set while device is active in this process") \
    ERROR(ContextIsDestroyed, 709, "context is destroyed") \
    ERROR(Assert, 710, "device-side assert triggered") \
    ERROR(TooManyPeers, 711, "peer mapping resources exhausted") \
    ERROR(HostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
    ERROR(HostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region") \
    ERROR(HardwareStackError, 714, "hardware stack error") \
    ERROR(IllegalInstruction, 715, "an illegal instruction was encountered") \
    ERROR(MisalignedAddress, 716, "misaligned address") \
    ERROR(InvalidAddressSpace, 717, "operation not supported on global/shared address space") \
    ERROR(InvalidPc, 718, "invalid program counter") \
    ERROR(LaunchFailure, 719, "unspecified launch failure") \
    ERROR(CooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch") \
    ERROR(NotPermitted, 800, "operation not permitted") \
    ERROR(NotSupported, 801, "operation not supported") \
    ERROR(SystemNotReady, 802, "system not yet initialized") \
    ERROR(SystemDriverMismatch, 803, "system has unsupported display driver / cuda driver combination") \
    ERROR(StreamCaptureUnsupported, 900, "operation not permitted when stream is capturing") \
    ERROR(StreamCaptureInvalidated, 901, "operation failed due to a previous error during capture") \
    ERROR(Timeout, 909, "wait operation timed out") \
    ERROR(Unknown, 999, "unknown error")
