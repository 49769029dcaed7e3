import Bytes
import IO
import Synchronization

/// One connection of the origin: answers requests, whose bodies it ignores, until the peer ends it.
struct OriginConnection {
    private let socket: Socket
    private let origin: Origin
    private let buffer = ByteBuffer(capacity: BufferPool.regular)
    private let login = NTLMLogin()

    init(takingOwnership descriptor: Int32, of origin: Origin, on loop: EventLoop) throws(IOError) {
        socket = try Socket(takingOwnership: descriptor, on: loop)
        socket.wakeup = Wakeup()
        self.origin = origin
    }

    func serve() async {
        defer { socket.close() }
        do throws(IOError) {
            while true {
                guard let head = Head(buffer.readable), buffer.readable.count >= head.length + bodyLength(of: head)
                else {
                    guard buffer.writableCount > 0, try await socket.read(into: buffer) > 0 else { return }
                    continue
                }
                if asksForSilence(head) { return try await keepSilence() }
                let answer = answer(to: head)
                buffer.consume(head.length + bodyLength(of: head))
                try await socket.write(answer)
                if answer == origin.content.largeHead {
                    for _ in 0..<OriginContent.largeSize >> 20 { try await socket.write(origin.content.largePiece) }
                }
            }
        } catch {
            // The contestant hung up: nothing is owed to it.
        }
    }

    private func asksForSilence(_ head: Head) -> Bool {
        let bytes = buffer.readable
        return bytes.extracting(pathRange(head.word(1, of: bytes))).equals("/silent")
    }

    /// Reads to the end of the connection.
    private func keepSilence() async throws(IOError) {
        origin.unanswered.add(1, ordering: .relaxed)
        repeat { buffer.clear() } while try await socket.read(into: buffer) > 0
    }

    private func bodyLength(of head: Head) -> Int {
        let bytes = buffer.readable
        return head.value(of: "content-length", in: bytes).flatMap { Head.number(in: $0, of: bytes) } ?? 0
    }

    /// All of the answer, but for the body of `/large`.
    private func answer(to head: Head) -> [UInt8] {
        let bytes = buffer.readable
        let path = pathRange(head.word(1, of: bytes))
        if bytes.extracting(path).equals("/small") { return origin.content.small }
        if let body = origin.content.body(at: bytes.extracting(path)) { return body }
        if bytes.extracting(path).equals("/large") { return origin.content.largeHead }
        if bytes.extracting(path).equals("/ntlm") { return ntlmAnswer(to: head, with: origin.content.small) }
        if bytes.extracting(path).equals("/ntlm-medium") { return ntlmAnswer(to: head, with: origin.content.medium) }
        if bytes.extracting(path).equals("/basic") {
            return answer(to: head, origin.content.basicAuthorization, origin.content.basicChallenge)
        }
        if bytes.extracting(path).equals("/bearer") {
            return answer(to: head, origin.content.bearerAuthorization, origin.content.bearerChallenge)
        }
        if bytes.extracting(path).equals("/token") { return origin.content.token }
        if path.count > 5, bytes.extracting(path).extracting(first: 5).equals("/ask/") {
            return origin.content.challenge(of: bytes.extracting(path.lowerBound + 5..<path.upperBound))
        }
        guard bytes.extracting(path).equals("/digest") else { return origin.content.missing }
        if let value = head.value(of: "authorization", in: bytes),
            origin.digest.admits(bytes.extracting(value))
        {
            return origin.content.small
        }
        origin.challenges.add(1, ordering: .relaxed)
        return origin.digest.challenge
    }

    /// 1 KiB for that credential, or else the challenge.
    private func answer(to head: Head, _ authorization: [UInt8], _ challenge: [UInt8]) -> [UInt8] {
        let bytes = buffer.readable
        if let value = head.value(of: "authorization", in: bytes),
            bytes.extracting(value).equals(authorization.span)
        {
            return origin.content.small
        }
        origin.challenges.add(1, ordering: .relaxed)
        return challenge
    }

    private func ntlmAnswer(to head: Head, with content: [UInt8]) -> [UInt8] {
        let bytes = buffer.readable
        let value = head.value(of: "authorization", in: bytes) ?? 0..<0
        switch login.judge(bytes.extracting(value)) {
        case .loggedIn: return content
        case .loggedInNow:
            origin.logins.add(1, ordering: .relaxed)
            return content
        case .challenged(let answer): return answer
        }
    }

    /// A plain reverse proxy passes the absolute form on: what counts is the part from the third slash.
    private func pathRange(_ target: Range<Int>) -> Range<Int> {
        let bytes = buffer.readable
        guard bytes.extracting(target).firstIndex(of: .slash) != 0 else { return target }
        var start = target.lowerBound
        for _ in 0..<3 {
            guard let slash = bytes.firstIndex(of: .slash, in: start..<target.upperBound) else { return target }
            start = slash + 1
        }
        return start - 1..<target.upperBound
    }
}
