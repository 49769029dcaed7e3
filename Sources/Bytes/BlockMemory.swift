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

/// Small memory for a library that takes and gives back the same sizes for each request.
///
/// The threads of loops keep up to 512 KiB of it each for the next time. Only these functions take it back.
public enum PieceMemory {
    /// Allocates like `malloc`; nil if there is no memory.
    public static func allocate(_ size: Int) -> UnsafeMutableRawPointer? { pieces_allocate(size) }

    /// Allocates like `calloc`.
    public static func allocateZeroed(_ count: Int, _ size: Int) -> UnsafeMutableRawPointer? {
        pieces_allocate_zeroed(count, size)
    }

    /// Resizes like `realloc`.
    public static func reallocate(_ piece: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
        pieces_reallocate(piece, size)
    }

    public static func free(_ piece: UnsafeMutableRawPointer?) { pieces_free(piece) }
}
