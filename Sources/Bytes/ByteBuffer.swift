import CBlocks
import Glibc

/// A contiguous buffer with a read and a write position: a socket fills it and a parser consumes it.
///
/// Positions: `0 … reader … writer … capacity`. It belongs to one task at a time. Appending beyond the capacity grows
/// it, so the caller checks limits *before* it appends a peer's bytes.
public final class ByteBuffer {
    private var base: UnsafeMutableRawPointer
    public private(set) var capacity: Int
    private var reader = 0
    private var writer = 0

    public init(capacity: Int) {
        self.capacity = max(capacity, 64)
        base = blocks_demand(self.capacity)
    }

    deinit { blocks_free(base) }

    /// The bytes between the reader and the writer, valid until the next change of the buffer.
    public var readable: Span<UInt8> {
        @_lifetime(borrow self) get {
            let bytes = UnsafeBufferPointer(
                start: UnsafePointer(base.advanced(by: reader).assumingMemoryBound(to: UInt8.self)),
                count: writer - reader)
            return _overrideLifetime(Span(_unsafeElements: bytes), borrowing: self)
        }
    }

    public var count: Int { writer - reader }
    public var isEmpty: Bool { writer == reader }
    public var writableCount: Int { capacity - writer }

    /// Drops `count` bytes from the front. When the buffer is empty, both positions return to the start.
    public func consume(_ count: Int) {
        precondition(count >= 0 && count <= writer - reader, "consume beyond what is readable")
        reader += count
        if reader == writer { clear() }
    }

    public func clear() {
        reader = 0
        writer = 0
    }

    /// Exchanges the memory and the bytes with the other buffer.
    public func swapContents(with other: ByteBuffer) {
        (base, other.base) = (other.base, base)
        (capacity, other.capacity) = (other.capacity, capacity)
        (reader, other.reader) = (other.reader, reader)
        (writer, other.writer) = (other.writer, writer)
    }

    /// Releases the memory that its bytes do not need.
    public func shrink() {
        guard capacity > max(count, 64) else { return }
        let smaller = ByteBuffer(capacity: count)
        smaller.append(readable)
        swapContents(with: smaller)
    }

    /// Drops everything after the first `count` readable bytes.
    public func truncate(to count: Int) {
        precondition(count >= 0 && count <= writer - reader, "truncate beyond what is readable")
        writer = reader + count
    }

    /// Replaces the first `count` bytes.
    public func replaceFirst(_ count: Int, with replacement: Span<UInt8>) {
        precondition(count >= 0 && count <= writer - reader, "replace beyond what is readable")
        let rest = writer - reader - count
        if replacement.count > count { reserve(replacement.count - count) }
        let front = base.advanced(by: reader)
        memmove(front.advanced(by: replacement.count), front.advanced(by: count), rest)
        replacement.withUnsafeBufferPointer { source in
            if let start = source.baseAddress { memcpy(front, start, source.count) }
        }
        writer = reader + replacement.count + rest
    }

    /// Makes room for `count` more bytes: moves the bytes to the front if that is enough, else grows.
    @inline(__always)
    public func reserve(_ count: Int) {
        if capacity &- writer < count { makeRoom(for: count) }
    }

    /// Out of line, so that the common case is one comparison.
    @inline(never)
    private func makeRoom(for count: Int) {
        let held = writer - reader
        if capacity - held >= count {
            memmove(base, base.advanced(by: reader), held)
        } else {
            let larger = max(capacity * 2, held + count)
            let moved = blocks_demand(larger)
            memcpy(moved, base.advanced(by: reader), held)
            blocks_free(base)
            base = moved
            capacity = larger
        }
        reader = 0
        writer = held
    }

    /// Lends the free room to `body`, which returns the number of bytes written.
    public func withWritable<Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Int {
        let room = UnsafeMutableRawBufferPointer(start: base.advanced(by: writer), count: capacity - writer)
        let written = try body(room)
        precondition(written <= room.count, "wrote beyond the room that was there")
        if written > 0 { writer += written }
        return written
    }

    /// Lends the readable bytes as a raw pointer, for a system call.
    public func withReadable<Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Int {
        try body(UnsafeRawBufferPointer(start: base.advanced(by: reader), count: writer - reader))
    }

    public func append(_ byte: UInt8) {
        reserve(1)
        base.storeBytes(of: byte, toByteOffset: writer, as: UInt8.self)
        writer &+= 1
    }

    /// Appends CR and LF.
    public func appendLineEnd() {
        reserve(2)
        base.storeBytes(of: UInt16(littleEndian: 0x0A0D), toByteOffset: writer, as: UInt16.self)
        writer &+= 2
    }

    public func append(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { source in
            if let start = source.baseAddress { append(start, count: source.count) }
        }
    }

    public func append(_ text: StaticString) {
        append(text.utf8Start, count: text.utf8CodeUnitCount)
    }

    @inline(__always)
    private func append(_ start: UnsafePointer<UInt8>, count: Int) {
        reserve(count)
        memcpy(base.advanced(by: writer), start, count)
        writer &+= count
    }

    public func append(_ text: String) {
        append(text.utf8Span.span)
    }

    public func append(_ bytes: [UInt8]) {
        append(bytes.span)
    }

    /// Appends a non-negative number in decimal.
    public func append(decimal number: Int) {
        append(unsigned: UInt64(clamping: number), radix: 10)
    }

    /// Appends a non-negative number in lower-case hexadecimal, at least `digits` long.
    public func append(hexadecimal number: Int, digits: Int = 1) {
        append(unsigned: UInt64(clamping: number), radix: 16, digits: digits)
    }

    /// Inlined, so that the divisor is a constant: the six numbers of a log line need some thirty divisions.
    @inline(__always)
    private func append(unsigned number: UInt64, radix: UInt64, digits: Int = 1) {
        reserve(max(20, digits))
        var length = 0
        var rest = number
        repeat {
            rest /= radix
            length += 1
        } while rest > 0
        length = max(length, digits)
        rest = number
        for place in stride(from: writer + length - 1, through: writer, by: -1) {
            let digit = UInt8(truncatingIfNeeded: rest % radix)
            base.storeBytes(of: digit < 10 ? 0x30 + digit : 0x57 + digit, toByteOffset: place, as: UInt8.self)
            rest /= radix
        }
        writer += length
    }
}
