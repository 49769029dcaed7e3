import Bytes
import HTTP
import IO
import Transport

/// A request's body on its way from the client to the upstream, once or, after a challenge, again.
final class RequestBody {
    enum Failure: Error {
        case client(IOError)
        case invalid(HTTPError)
        case upstream(IOError)
        /// The copy that was to be sent again cannot be read back.
        case copyLost
        /// More of it had to be kept than may be.
        case tooLarge
    }

    enum Outcome {
        /// The upstream has all of it.
        case sent
        /// The upstream has something to say before it has all of it; `send` goes on from there.
        case interrupted
    }

    private(set) var framing = BodyFraming.none
    private var progress = BodyProgress(.none, of: .client, limits: .request)
    private var copy: ReplayCopy?
    /// Bytes went upstream of which there is no copy.
    private var isGone = false
    /// Bytes read from the client.
    private(set) var count = 0
    /// Those of them that the upstream was given since `rewind`.
    private var sent = 0
    /// Those of them that still stand at the front of the client's buffer, since the upstream does not take them.
    private var held = 0

    func begin(_ framing: BodyFraming, limits: Limits) {
        self.framing = framing
        progress = BodyProgress(framing, of: .client, limits: limits)
    }

    func reset() {
        framing = .none
        progress = BodyProgress(.none, of: .client, limits: .request)
        copy = nil
        isGone = false
        count = 0
        sent = 0
        held = 0
    }

    /// Decodes what has come of the body before its head goes out: of one that is bad already, the upstream sees nothing.
    func check(_ inbound: ByteBuffer) throws(HTTPError) {
        guard framing == .chunked else { return }
        var ahead = progress
        _ = try ahead.take(inbound.readable)
    }

    var isEmpty: Bool { framing == .none || framing == .length(0) }

    /// Whether every byte has been read from the client, so that its next request can follow.
    var isRead: Bool { progress.isEnded && held == 0 }

    /// Whether the upstream was given every byte, so that another request can follow on its connection.
    var isSent: Bool { progress.isEnded && sent == count }

    /// Whether the upstream can be given the whole body, from the first byte.
    var canBeSent: Bool { !isGone && copy?.isWhole ?? true }

    /// From now on keeps a copy of what is sent, within the limits; they only grow.
    func keepCopy(memory: Int, disk: Int) {
        copy?.raise(disk: disk)
        guard copy == nil, !isEmpty, !isGone else { return }
        copy = ReplayCopy(memoryLimit: memory, diskLimit: disk)
    }

    /// From now on sends the body from its first byte: it goes to another connection, or with another request.
    func rewind(_ inbound: ByteBuffer) {
        inbound.consume(held)
        held = 0
        sent = 0
    }

    /// Sends the body, or what is left of it after an interruption.
    ///
    /// - Parameters:
    ///   - inbound: what came from the client; what is behind the body's end stays in it.
    ///   - idle: milliseconds without a byte after which a side has failed.
    func send(
        to upstream: ByteStream, from client: ByteStream, inbound: ByteBuffer, idle: Int, on loop: EventLoop
    ) async throws(Failure) -> Outcome {
        if held == 0, let copy, sent < copy.count,
            case .interrupted = try await resend(copy, to: upstream, idle: idle, on: loop)
        {
            return .interrupted
        }
        while true {
            if held > 0, try await !writeHeld(inbound, to: upstream, idle: idle) { return .interrupted }
            if progress.isEnded { return .sent }
            if upstream.isReadable { return .interrupted }
            if inbound.isEmpty, copy?.isWhole != true, let rest = progress.remainingLength, rest > inbound.capacity {
                isGone = true
                return try await relay(rest, to: upstream, from: client, idle: idle, on: loop)
            }
            guard let taken = try await next(from: client, inbound: inbound, idle: idle, unless: upstream) else {
                return .interrupted
            }
            if let copy { await copy.add(inbound, count: taken) } else { isGone = true }
            count += taken
            held = taken
        }
    }

    private func relay(
        _ rest: Int, to upstream: ByteStream, from client: ByteStream, idle: Int, on loop: EventLoop
    ) async throws(Failure) -> Outcome {
        do throws(RelayError) {
            let moved = try await BodyRelay(from: client, to: upstream, idle: idle, on: loop)
                .move(rest, unless: upstream)
            progress.skip(moved)
            count += moved
            sent += moved
        } catch {
            switch error {
            case .source(let error): throw .client(error)
            case .target(let error): throw .upstream(error)
            }
        }
        return progress.isEnded ? .sent : .interrupted
    }

    /// Sees to it that `inbound` has bytes of the body at its front, and says how many; nil when the other stream has
    /// something to say before they come.
    private func next(
        from client: ByteStream, inbound: ByteBuffer, idle: Int, unless other: ByteStream? = nil
    ) async throws(Failure) -> Int? {
        while true {
            if !inbound.isEmpty {
                do throws(HTTPError) {
                    let taken = try progress.take(inbound.readable)
                    if taken > 0 || progress.isEnded { return taken }
                } catch { throw .invalid(error) }
                if inbound.writableCount == 0 { inbound.reserve(1) }
            }
            if try await !read(from: client, into: inbound, idle: idle, unless: other) { return nil }
        }
    }

    /// Reads more from the client; false when the other stream has something to say first.
    private func read(
        from client: ByteStream, into inbound: ByteBuffer, idle: Int, unless other: ByteStream? = nil
    ) async throws(Failure) -> Bool {
        do throws(IOError) {
            guard let count = try await client.read(into: inbound, unless: other, idle: idle) else { return false }
            if count == 0 { throw IOError.endOfStream }
            return true
        } catch { throw .client(error) }
    }

    private func resend(
        _ copy: ReplayCopy, to upstream: ByteStream, idle: Int, on loop: EventLoop
    ) async throws(Failure) -> Outcome {
        let buffer = loop.buffers.takeLarge()
        defer { loop.buffers.give(buffer) }
        while sent < copy.count {
            if upstream.isReadable { return .interrupted }
            guard let count = await copy.read(from: sent, into: buffer) else { throw .copyLost }
            if try await !write(count, of: buffer, to: upstream, idle: idle) { return .interrupted }
        }
        return .sent
    }

    private func writeHeld(_ inbound: ByteBuffer, to upstream: ByteStream, idle: Int) async throws(Failure) -> Bool {
        let before = inbound.count
        defer { held -= before - inbound.count }
        return try await write(held, of: inbound, to: upstream, idle: idle)
    }

    /// - Returns: whether all was written; false when the upstream has something to say.
    private func write(
        _ count: Int, of buffer: ByteBuffer, to upstream: ByteStream, idle: Int
    ) async throws(Failure) -> Bool {
        let before = buffer.count
        // Also after an error: some of it may have gone.
        defer { sent += before - buffer.count }
        do throws(IOError) {
            return try await upstream.write(count, from: buffer, idle: idle)
        } catch { throw .upstream(error) }
    }

    /// Reads what the client still sends of a body that nobody wants, up to `limit` bytes.
    /// - Returns: whether the body was read to its end.
    func discard(from client: ByteStream, inbound: ByteBuffer, upTo limit: Int, idle: Int) async -> Bool {
        rewind(inbound)
        while !progress.isEnded {
            guard count < limit, let taken = try? await next(from: client, inbound: inbound, idle: idle) else {
                return false
            }
            inbound.consume(taken)
            count += taken
        }
        return true
    }

    /// Reads the whole body into the copy, and hands its content over, for a digest over it. False when the body is
    /// larger than the copy may be.
    func readAll(
        from client: ByteStream, inbound: ByteBuffer, limits: Limits, idle: Int, each: (Span<UInt8>) -> Void
    ) async throws(Failure) -> Bool {
        while !progress.isEnded, canBeSent {
            if inbound.isEmpty { _ = try await read(from: client, into: inbound, idle: idle) }
            // What was kept is still there for whoever can go on without the rest.
            let piece = min(inbound.count, progress.remainingLength ?? .max)
            if let copy, !copy.hasRoom(for: piece) { return false }
            guard let taken = try await next(from: client, inbound: inbound, idle: idle) else { break }
            await copy?.add(inbound, count: taken)
            count += taken
            inbound.consume(taken)
        }
        guard let copy, canBeSent else { return false }
        let buffer = ByteBuffer(capacity: BufferPool.large)
        var content = BodyContent(framing, limits: limits)
        var offset = 0
        while offset < copy.count {
            guard let count = await copy.read(from: offset, into: buffer) else { throw .copyLost }
            offset += count
            do throws(HTTPError) {
                buffer.consume(try content.visit(buffer.readable, each))
            } catch { throw .invalid(error) }
            if buffer.writableCount == 0 { buffer.reserve(1) }
        }
        return true
    }
}
