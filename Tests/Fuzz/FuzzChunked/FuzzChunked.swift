// Invariant: a chunked body is passed and decoded to the same end however it is cut. The decoded content, encoded
// again, decodes to itself. The bytes written for an upstream's body are one that a strict decoder reads the same.
import Bytes
import HTTP

private struct Reading: Equatable {
    var content: [UInt8] = []
    var consumed = 0
    var isEnded = false
    var defect: Defect?
}

private let limits = Limits(trailers: 200, trailerFields: 4, chunkExtension: 20)

/// Returns an upstream's body as it is relayed.
private func rewritten(_ bytes: [UInt8], by size: Int) -> Reading {
    var decoder = ChunkedDecoder(fault: .upstream, limits: limits)
    var reading = Reading()
    let out = ByteBuffer(capacity: 64)
    var shown = 0
    do throws(HTTPError) {
        while shown < bytes.count, !decoder.isEnded {
            shown = min(shown + size, bytes.count)
            reading.consumed += try decoder.pass(bytes.span.extracting(reading.consumed..<shown), to: out)
        }
        reading.content = out.readable.array
    } catch {
        reading.defect = error.defect
        reading.consumed = 0
    }
    reading.isEnded = decoder.isEnded
    return reading
}

/// Shows the bytes in pieces of `size`, what was not consumed again.
private func read(
    _ bytes: [UInt8], by size: Int, decoding: Bool, of fault: HTTPError.Fault = .client, limits: Limits = limits
) -> Reading {
    var decoder = ChunkedDecoder(fault: fault, limits: limits)
    var reading = Reading()
    var shown = 0
    do throws(HTTPError) {
        while shown < bytes.count, !decoder.isEnded {
            shown = min(shown + size, bytes.count)
            let piece = bytes.span.extracting(reading.consumed..<shown)
            reading.consumed +=
                decoding ? try decode(&decoder, piece, into: &reading.content) : try decoder.pass(piece)
        }
    } catch {
        reading.defect = error.defect
        // How much of a bad body goes before it is refused does depend on the pieces.
        reading.consumed = 0
        reading.content = []
    }
    reading.isEnded = decoder.isEnded
    return reading
}

private func decode(
    _ decoder: inout ChunkedDecoder, _ bytes: Span<UInt8>, into content: inout [UInt8]
) throws(HTTPError) -> Int {
    var offset = 0
    while true {
        switch try decoder.next(bytes, from: offset) {
        case .needsMore(let consumed), .end(let consumed): return consumed
        case .data(let range):
            precondition(range.lowerBound >= offset && !range.isEmpty)
            content += bytes.extracting(range).array
            offset = range.upperBound
        case .trailer(let line): offset = line.upperBound
        }
    }
}

/// The first byte is the size of the pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzChunked(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let size = input.first, size > 0 else { return 0 }
    let bytes = Array(input[1...])
    let whole = read(bytes, by: max(bytes.count, 1), decoding: true)
    precondition(read(bytes, by: Int(size), decoding: true) == whole, "the pieces matter")
    for size in [Int(size), max(bytes.count, 1)] {
        let passed = read(bytes, by: size, decoding: false)
        precondition(passed.defect == whole.defect && passed.isEnded == whole.isEnded, "passing sees another body")
        precondition(passed.consumed == whole.consumed, "passing sees another end")
    }
    if whole.isEnded {
        let buffer = ByteBuffer(capacity: 64)
        ChunkedEncoder.append(whole.content.span, to: buffer)
        ChunkedEncoder.appendEnd(to: buffer)
        let again = read(buffer.readable.array, by: Int(size), decoding: true)
        precondition(again.isEnded && again.content == whole.content, "the encoding does not decode to itself")
    }
    let (old, relayed) = (read(bytes, by: Int(size), decoding: true, of: .upstream), rewritten(bytes, by: Int(size)))
    precondition(rewritten(bytes, by: max(bytes.count, 1)) == relayed, "the pieces matter")
    precondition(old.defect == relayed.defect && old.consumed == relayed.consumed && old.isEnded == relayed.isEnded)
    if whole.defect == nil { precondition(old.content == whole.content, "a good body is read as another") }
    if old.isEnded {
        let strict = read(relayed.content, by: Int(size), decoding: true, limits: .response)
        precondition(strict.isEnded && strict.content == old.content, "what we wrote is another body")
    }
    return 0
}
