import Bytes
import Crypto
import IO
import Model
import Transport
import Upstream

/// The first bytes of a client at a listener with `socks`, until they are known to be HTTP, or ask for a server.
///
/// It holds a small buffer, and no task: a client that stays silent costs little.
final class SOCKSGreeting {
    /// The next thing to do.
    enum Event {
        case awaitsBytes
        /// The received bytes begin a request.
        case speaksHTTP
        /// The password is to be checked: call `conclude`.
        case offersPassword(user: String, password: Secret)
        case asks(SOCKSNegotiation.Target)
        /// The client has its reply. The sentence says why it is refused.
        case refused(String)
        /// The client has left.
        case ended
    }

    /// The bytes that were received and not consumed.
    let received = ByteBuffer(capacity: 64)
    private(set) var version = SOCKSVersion.five
    private var negotiation: SOCKSNegotiation
    private var isBegun = false
    /// The reply to the password that was checked.
    private var verdict: [UInt8] = []
    /// The reason why the password was not accepted.
    private var fault: String?
    /// The time when all of it must be over.
    private var end: LoopInstant?

    init(wanting login: SOCKSNegotiation.Login) { negotiation = .begun(login) }

    /// The rest of the time that a greeting may take, from the first call on.
    func rest(of limit: Milliseconds, at now: LoopInstant) -> Milliseconds {
        guard let end else {
            end = now + limit
            return limit
        }
        return now < end ? Milliseconds(Int(clamping: end.nanoseconds(since: now) / 1_000_000)) : 0
    }

    /// Takes the result of the check of a password.
    /// - Parameter fault: the reason why it was not accepted; nil if it is right.
    func conclude(_ fault: String?) {
        self.fault = fault
        verdict = fault == nil ? negotiation.accept() : negotiation.refuse()
    }

    /// Reads what has come, and answers it.
    func advance(on stream: ByteStream) -> Event {
        if !verdict.isEmpty {
            guard send(verdict, on: stream) else { return .ended }
            verdict = []
            if let fault { return .refused(fault) }
        }
        while true {
            if let event = step(on: stream) { return event }
            if received.writableCount == 0 { received.reserve(1) }
            switch stream.tryRead(into: received) {
            case .moved: break
            case .wouldBlock: return .awaitsBytes
            case .endOfStream, .failed: return .ended
            }
        }
    }

    /// Handles the received bytes; nil if more are needed.
    private func step(on stream: ByteStream) -> Event? {
        let received = received
        if !isBegun, !received.isEmpty {
            guard SOCKSNegotiation.begins(with: received.readable[0]) else { return .speaksHTTP }
            isBegun = true
            if received.readable[0] == 4 { version = .four }
        }
        while true {
            switch negotiation.receive(received.readable) {
            case .needsMore: return received.count > SOCKSNegotiation.longestMessage ? .ended : nil
            case .reply(let bytes, let count):
                received.consume(count)
                guard send(bytes, on: stream) else { return .ended }
            case .password(let user, let password, let count):
                let bytes = received.readable
                let (name, secret) = (bytes.extracting(user).text, Secret(bytes.extracting(password)))
                received.consume(count)
                return .offersPassword(user: name, password: secret)
            case .connect(let target, let count):
                received.consume(count)
                return .asks(target)
            case .refused(let bytes, let refusal):
                return send(bytes, on: stream) ? .refused(refusal.sentence) : .ended
            }
        }
    }

    /// Sends a message of a few bytes, which any socket takes at once.
    private func send(_ bytes: [UInt8], on stream: ByteStream) -> Bool {
        let buffer = ByteBuffer(capacity: 16)
        buffer.append(bytes)
        return stream.writeAtOnce(buffer)
    }
}
