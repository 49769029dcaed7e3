import Bytes
import Challenges
import Crypto
import HTTP
import IO
import Upstream

extension UpstreamConnection {
    /// Reads the body before any of it is passed on, for the digest of its content, without the framing (RFC 7616
    /// section 3.4.3).
    ///
    /// - Parameters:
    ///   - room: the room for the body.
    ///   - idle: the time limit for the next byte.
    public func digestBody(
        _ algorithm: DigestAlgorithm, in room: ReplayRoom, limits: Limits, within idle: Milliseconds
    ) async -> BodyDigest {
        let copy = ReplayCopy(in: room)
        if case .length(let count) = head.framing, !copy.makeRoom(for: count) { return .tooLarge }
        var digest = MessageDigest(algorithm)
        var content = BodyContent(head.framing, limits: limits)
        let (arrived, unread) = (ByteBuffer(capacity: BufferPool.regular), ByteBuffer(capacity: BufferPool.regular))
        let inbound = inbound
        unread.append(inbound.readable.extracting(headLength..<inbound.count))
        do throws(ExchangeFailure) {
            while try !Self.digestContent(of: unread, by: &content, into: &digest) {
                if !copy.makeRoom(for: arrived.capacity) {
                    keep(copy)
                    return .tooLarge
                }
                if try await readBody(into: arrived, within: idle) == 0 {
                    if content.endsWithConnection { break }
                    throw .cutShort(.httpResponseIncomplete, "the origin ended its response too early")
                }
                unread.append(arrived.readable)
                await copy.add(arrived, count: arrived.count)
                arrived.clear()
                if !copy.isWhole { return .failed(Self.copyLost) }
            }
        } catch {
            guard case .cutShort(let error, let sentence) = error else { return .failed(Self.copyLost) }
            return .failed(ChallengeFailure(.badGateway, error, sentence))
        }
        keep(copy)
        return .whole(digest.finish().array)
    }

    /// - Returns: whether the body is complete.
    private static func digestContent(
        of bytes: ByteBuffer, by content: inout BodyContent, into digest: inout MessageDigest
    ) throws(ExchangeFailure) -> Bool {
        do throws(HTTPError) {
            let step = try content.visit(bytes.readable) { digest.update($0) }
            bytes.consume(step.consumed)
            return step.isEnded
        } catch { throw .cutShort(error.proxyError, "\(error)") }
    }

    private static let copyLost = ChallengeFailure(
        .serviceUnavailable, .proxyInternalError,
        "the response could not be kept while its proof was checked; try again")
}
