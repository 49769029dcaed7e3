import Authentication
import Bytes
import Challenges
import HTTP
import IO
import Telemetry
import Transport
import Upstream

/// The working set of one request and its response: buffers, heads and the record. It decides nothing.
///
/// A loop keeps a few and lends them out for as long as a client has something to say, so that an idle connection
/// holds none and a busy one allocates nothing.
public final class Exchange {
    /// The policy that rules it: taken when it was lent out, kept to its end whatever is reloaded meanwhile.
    public let policy: Policy
    /// Bytes that came from the client behind the head.
    public let inbound: ByteBuffer
    /// The head as it came. Apart from `inbound`, because a challenge may make us send it again.
    public let headBytes = ByteBuffer(capacity: 2048)
    public let request: RequestHead
    public let body = RequestBody()
    /// Bytes that are being written, to either side.
    public let outbound: ByteBuffer
    public let upstream: UpstreamConnection
    /// The request target as the origin sees it. Written when somebody first asks for it: nothing of a plain request does.
    public var target: ByteBuffer {
        if writtenTarget.isEmpty {
            let head = headBytes
            request.target.appendOriginForm(head.readable, to: writtenTarget)
        }
        return writtenTarget
    }
    private let writtenTarget = ByteBuffer(capacity: 512)
    /// The value of a field that is being made.
    public let fieldValue = ByteBuffer(capacity: 512)
    /// Which way the request goes.
    public var way = Way.direct
    /// Nil while nobody's challenges could be answered.
    private(set) var challenges: ExchangeChallenges?
    private lazy var ownChallenges = ExchangeChallenges()
    /// The request target as that parent sees it.
    let parentTarget = ByteBuffer(capacity: 16)
    /// The client's own answer, where a rule wants to learn from it.
    var learnableAnswer: LearnableAnswer?
    /// The signing of the request; nil where there is none.
    var signing: RequestSigning?
    /// The answer to the client's own login, when it has come to its end; goes with the response.
    public var loginAnswer: LoginAnswer?
    /// The requests for certificates that the servers on its way have made; nil: no connection was made for it.
    private(set) var identities: IdentityChallenges?
    /// Nil for a client's.
    public var own: OwnRequest?
    /// Where the request goes; nil until that is known.
    public var destination: Destination?
    /// The machine that takes it there, and the response back.
    var forwarding = Forwarding()
    public let record: ExchangeRecord
    /// When the first byte of the request was seen, on the loop's clock in nanoseconds.
    public var startedAt: UInt64 = 0
    /// When the first challenge was there that is answered, likewise; nil: there was none.
    var challengedAt: UInt64?
    /// Until when it may wait for other requests before anything is at stake.
    public let waiting = WaitingTime()

    public init(policy: Policy, on loop: EventLoop) {
        self.policy = policy
        inbound = loop.buffers.take()
        outbound = loop.buffers.take()
        request = RequestHead(limits: policy.limits.request)
        upstream = UpstreamConnection(limits: policy.limits.response, on: loop)
        record = ExchangeRecord(keeping: policy.recordedParts)
    }

    /// Writes the request's head as it goes on into `outbound`, up to the caller's own fields.
    ///
    /// - Parameter target: in place of the client's.
    func beginHead(as rewrite: RequestRewrite, to target: ByteBuffer?) -> HeadWriter {
        let head = headBytes
        return request.write(head.readable, as: rewrite, to: target, via: .ours, into: outbound)
    }

    /// Takes note of the response's head, which stands in `outbound` as the client gets it, where a log will ask for it.
    func recordResponse() {
        guard record.parts.contains(.response) else { return }
        record.headBytesOut = outbound.count
        record.server = upstream.stream?.peerAddress?.address
        upstream.withHeadBytes { bytes in
            if let type = upstream.head.fields.first(.contentType) { record.setType(bytes.extracting(type.value)) }
        }
    }

    /// One whose buffers a long head has enlarged is not.
    public var isWorthKeeping: Bool {
        inbound.capacity == BufferPool.regular && outbound.capacity == BufferPool.regular
            && upstream.inbound.capacity == BufferPool.regular && headBytes.capacity <= BufferPool.regular
    }

    /// Gives the buffers back to the loop. The exchange is not used again; its record is as it was.
    public func dissolve(into pool: BufferPool) {
        forget()
        for buffer in [inbound, outbound, upstream.inbound] { pool.give(buffer) }
    }

    /// From now on the origin's challenges are answered.
    func begin(_ server: ExchangeChallenges.Server) {
        challenges = ownChallenges
        ownChallenges.origin = server
    }

    /// From now on those of the parent are that makes the request.
    func beginAtParent(_ server: ExchangeChallenges.Server) {
        challenges = ownChallenges
        ownChallenges.parent = server
    }

    func endChallenges() {
        guard let challenges else { return }
        challenges.origin = .ignored
        challenges.parent = .ignored
        challenges.cookies.forget()
        self.challenges = nil
    }

    /// What servers say to certificates counts for the next connections, from now on.
    func beginIdentities() -> IdentityChallenges {
        let begun = identities ?? IdentityChallenges()
        identities = begun
        return begun
    }

    /// Forgets the request; bytes of the client's next one stay.
    public func reset() {
        forget()
        record.reset()
    }

    private func forget() {
        destination.forget()
        forwarding.reset()
        way = .direct
        challengedAt = nil
        waiting.reset()
        endChallenges()
        learnableAnswer.forget()
        signing.forget()
        loginAnswer.forget()
        own.forget()
        identities.forget()
        headBytes.clear()
        writtenTarget.clear()
        parentTarget.clear()
        fieldValue.clear()
        outbound.clear()
        request.reset()
        body.reset()
        upstream.reset()
    }
}

extension Exchange {
    /// Whether a practice page of the admin listener is asked for. That listener decodes nothing, so that no other page of
    /// it has a path like this.
    public var asksForPractice: Bool {
        let head = headBytes
        let path = head.readable.extracting(request.target.path)
        return path.count >= 10 && path.extracting(first: 10).equals("/practice/")
    }
}
