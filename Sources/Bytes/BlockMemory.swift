import CBlocks

/// The memory of `ByteBuffer`, for libraries that let us choose theirs and for the threads that use it.
///
/// On the threads of loops, buffers of 16 to 24 KiB have pages of their own, which return to the system when the buffers go.
public enum BlockMemory {
    /// Makes the calling thread use blocks. Only for threads that live as long as the process.
    public static func keep() { blocks_keep() }

    /// Allocates like `malloc`; nil for zero bytes.
    public static func allocate(_ count: Int) -> UnsafeMutableRawPointer? { blocks_allocate(count) }

    /// Resizes like `realloc`; frees the memory for zero bytes.
    public static func reallocate(_ memory: UnsafeMutableRawPointer?, _ count: Int) -> UnsafeMutableRawPointer? {
        blocks_reallocate(memory, count)
    }

    /// Frees memory from either function.
    public static func free(_ memory: UnsafeMutableRawPointer?) { blocks_free(memory) }
}
