import Bytes
import CZlib

/// Decodes a body as it arrives, within the given room. Memory is limited to the caller's buffer and zlib's window of
/// 32 KiB, for any size of the decoded body.
///
/// Consecutive gzip members are one body (RFC 1952 section 2.2). Zeros after the end are padding. Other bytes there are
/// refused, like everything that another decoder could read differently. A failed inflater stays failed.
public struct Inflater: ~Copyable {
    /// The limits of the expansion of a coded body, against decompression bombs.
    public struct Limits: Sendable {
        /// The limit of decoded bytes for each coded byte. Deflate itself reaches 1032; text rarely exceeds 20.
        public let ratio: Int
        /// The number of decoded bytes without a limit on the ratio, since short bodies of one repeated byte are
        /// harmless.
        public let freeBytes: Int

        /// A ratio below 1 counts as 1.
        public init(ratio: Int = 100, freeBytes: Int = 1 << 20) {
            self.ratio = max(ratio, 1)
            self.freeBytes = freeBytes
        }
    }

    /// The result of one call.
    public struct Progress: Equatable, Sendable {
        /// The number of input bytes that were used.
        public let consumed: Int
        /// The room is full and more output may follow: call again, even without input.
        public let isOutputWaiting: Bool
    }

    private enum State {
        /// No byte has arrived yet: an empty body is complete, independent of its header. Becomes `.inside`.
        case awaitingStart
        /// A member is being decoded. Becomes `.behindMember` at its end.
        case inside
        /// Becomes `.inside` when another gzip member starts.
        case behindMember
        case failed(Failure)
    }

    private let coding: ContentCoding
    private let limits: Limits
    /// The stream is on the heap, because zlib keeps its address.
    private let stream: UnsafeMutablePointer<z_stream>
    private var state = State.awaitingStart
    private var codedCount = 0
    private var decodedCount = 0

    private static let rawWindow: CInt = -MAX_WBITS
    private static let zlibWindow: CInt = MAX_WBITS
    private static let gzipWindow: CInt = MAX_WBITS + 16

    public init(_ coding: ContentCoding, limits: Limits = Limits()) throws(Failure) {
        self.coding = coding
        self.limits = limits
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let window = coding == .gzip ? Self.gzipWindow : Self.zlibWindow
        guard inflateInit2_(stream, window, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size)) == Z_OK else {
            stream.deallocate()
            throw .noMemory
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Decodes as much of `input` as fits into `room` more bytes of `output`. Input that was not consumed must be
    /// passed again.
    public mutating func decode(
        _ input: Span<UInt8>, into output: ByteBuffer, room: Int
    ) throws(Failure) -> Progress {
        if case .failed(let error) = state { throw error }
        do {
            return try step(input, into: output, room: room)
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// Ends the body. Call it when the coded body has ended and no output is waiting.
    public mutating func finish() throws(Failure) {
        switch state {
        case .awaitingStart, .behindMember: return
        case .inside:
            state = .failed(.truncated)
            throw .truncated
        case .failed(let error): throw error
        }
    }

    private mutating func step(
        _ input: Span<UInt8>, into output: ByteBuffer, room: Int
    ) throws(Failure) -> Progress {
        var consumed = 0
        var left = room
        while true {
            switch state {
            case .awaitingStart:
                guard consumed < input.count else { return Progress(consumed: consumed, isOutputWaiting: false) }
                if coding == .deflate { try choose(first: input[consumed]) }
                state = .inside
            case .inside:
                let (used, made, ended) = try inflate(input.extracting(consumed...), into: output, room: left)
                consumed += used
                left -= made
                if ended {
                    state = .behindMember
                } else if left == 0 || consumed == input.count || used + made == 0 {
                    return Progress(consumed: consumed, isOutputWaiting: left == 0)
                }
            case .behindMember:
                guard consumed < input.count else { return Progress(consumed: consumed, isOutputWaiting: false) }
                if input[consumed] == 0 {
                    consumed += 1
                } else if coding == .gzip, input[consumed] == 0x1F {
                    guard inflateReset(stream) == Z_OK else { throw .malformed }
                    state = .inside
                } else {
                    throw .trailingBytes
                }
            case .failed(let error): throw error
            }
        }
    }

    /// Selects the format. The low four bits of a zlib header are 8, for deflate. In bare deflate they would be a
    /// stored block with padding that is not zero, which no encoder writes. So one byte decides.
    private mutating func choose(first: UInt8) throws(Failure) {
        guard first & 0xF != 8 else { return }
        guard inflateReset2(stream, Self.rawWindow) == Z_OK else { throw .malformed }
    }

    /// Calls zlib once. Returns the number of bytes used and made, and whether the member ended.
    private mutating func inflate(
        _ input: Span<UInt8>, into output: ByteBuffer, room: Int
    ) throws(Failure) -> (used: Int, made: Int, ended: Bool) {
        let room = min(room, Int(CUnsignedInt.max))
        let offered = min(input.count, Int(CUnsignedInt.max))
        var result = Z_OK
        output.reserve(room)
        let made = output.withWritable { writable in
            input.withUnsafeBufferPointer { readable in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: readable.baseAddress)
                stream.pointee.avail_in = CUnsignedInt(offered)
                stream.pointee.next_out = writable.baseAddress?.assumingMemoryBound(to: UInt8.self)
                stream.pointee.avail_out = CUnsignedInt(room)
                result = CZlib.inflate(stream, Z_NO_FLUSH)
                stream.pointee.next_in = nil
                stream.pointee.next_out = nil
            }
            return room - Int(stream.pointee.avail_out)
        }
        let used = offered - Int(stream.pointee.avail_in)
        codedCount += used
        decodedCount += made
        switch result {
        case Z_OK, Z_STREAM_END, Z_BUF_ERROR: break
        case Z_MEM_ERROR: throw .noMemory
        default: throw .malformed
        }
        if decodedCount > limits.freeBytes, decodedCount / limits.ratio > codedCount {
            throw .ratioExceeded(limit: limits.ratio)
        }
        return (used, made, result == Z_STREAM_END)
    }
}

/// A content coding that can be decoded (RFC 9110 section 8.4.1).
public enum ContentCoding: Sendable {
    /// RFC 1952, also under its old name `x-gzip`.
    case gzip
    /// RFC 1950. Some servers send the bare RFC 1951 under this name, which is accepted.
    case deflate

    /// Nil for an unknown name, and for a list: two codings need two decoders.
    public init?(name: Span<UInt8>) {
        if name.equalsIgnoringCase("gzip") || name.equalsIgnoringCase("x-gzip") {
            self = .gzip
        } else if name.equalsIgnoringCase("deflate") {
            self = .deflate
        } else {
            return nil
        }
    }
}

extension Inflater {
    /// The reason why a coded body could not be decoded. The peer's fault, except `noMemory`.
    public enum Failure: Error, Equatable, CustomStringConvertible {
        /// The bytes violate the coding, or a checksum or length differs.
        case malformed
        /// Bytes other than zero padding follow the end.
        case trailingBytes
        /// The body ended before its coding did.
        case truncated
        /// The decoded body is more than `limit` times as long as the coded one.
        case ratioExceeded(limit: Int)
        /// zlib could not allocate its window.
        case noMemory

        public var description: String {
            switch self {
            case .malformed: "the body is not in the content coding that its header names"
            case .trailingBytes: "bytes follow the end of the coded body"
            case .truncated: "the coded body ends too early"
            case .ratioExceeded(let limit): "the body expands to more than \(limit) times its size"
            case .noMemory: "there is no memory to decode the body"
            }
        }
    }
}
