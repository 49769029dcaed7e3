import Bytes
import CCares
import Glibc
import IO

/// A name that is being asked for, and who waits for it.
final class Lookup {
    enum Step {
        case wait
        /// The name as it was asked for now has no address: its next form is to be tried.
        case next
        case finish(Result<QueryAnswer, ResolutionError>)
    }

    let name: String
    let system: SystemSettings
    /// Forms of the name that are still to be asked for.
    var candidates: ArraySlice<String>
    private var waiting: [UnsafeContinuation<Void, Never>] = []
    /// The result for those who wait; one family's addresses at first, perhaps.
    private var result: Result<Resolution, ResolutionError>?
    /// Tells the answers to one form of the name from those to another.
    private(set) var round = 0
    private var answers: [Family: QueryAnswer] = [:]
    private var delay: Alarm?
    private let loop: EventLoop

    /// Milliseconds that one family's addresses wait for the other's: RFC 8305 section 3, "Resolution Delay".
    private static let resolutionDelay = 50

    init(_ name: String, by system: SystemSettings, on loop: EventLoop) {
        self.name = name
        self.system = system
        candidates = system.candidates(for: name)[...]
        self.loop = loop
    }

    /// Waits for the addresses of one family at least.
    func outcome() async throws(ResolutionError) -> Resolution {
        while true {
            if let result { return try result.get() }
            await withUnsafeContinuation { waiting.append($0) }
        }
    }

    private func tell(_ result: Result<Resolution, ResolutionError>) {
        self.result = result
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    /// Another form of the name is asked for.
    func begin() {
        round += 1
        answers = [:]
    }

    func take(_ answer: QueryAnswer, of family: Family) -> Step {
        answers[family] = answer
        guard let six = answers[.v6], let four = answers[.v4] else {
            if !answer.addresses.isEmpty { startDelay() }
            // No server says so of a name that has other records, but many say so when they are asked for IPv6 (RFC 4074
            // section 4.2).
            return family == .v4 && answer.saysNoName ? .next : .wait
        }
        let both = QueryAnswer(six, four)
        if !both.addresses.isEmpty { return .finish(.success(both)) }
        for answer in [four, six] {
            let error = answer.error(for: name)
            if case .noSuchName = error { continue }
            return .finish(.failure(error))
        }
        return .next
    }

    private func startDelay() {
        delay = Alarm(on: loop) { [unowned self] in
            tell(.success(Resolution(answers.values.flatMap(\.addresses), isComplete: false)))
        }
        delay?.set(after: Self.resolutionDelay)
    }

    func finish(_ answer: Result<QueryAnswer, ResolutionError>) {
        delay?.cancel()
        guard case .success(let early)? = result else { return tell(answer.map { Resolution($0.addresses) }) }
        let addresses = (try? answer.get())?.addresses ?? []
        early.complete(with: addresses.filter { !early.addresses.contains($0) })
    }
}

/// The result of one query of c-ares.
struct QueryAnswer {
    var addresses: [IPAddress] = []
    /// The shortest TTL.
    var seconds = Int(Int32.max)
    private let status: Int32

    private static let capacity = 64

    init(status: Int32, list: UnsafeMutablePointer<ares_addrinfo>?) {
        self.status = status
        var next = list?.pointee.nodes
        while let node = next, addresses.count < Self.capacity {
            if let system = node.pointee.ai_addr, let address = SocketAddress(system: system) {
                addresses.append(address.address)
                seconds = min(seconds, Int(node.pointee.ai_ttl))
            }
            next = node.pointee.ai_next
        }
    }

    /// Both families' answers as one.
    init(_ six: QueryAnswer, _ four: QueryAnswer) {
        status = four.status
        addresses = six.addresses + four.addresses
        seconds = min(six.seconds, four.seconds)
    }

    /// Whether the name does not exist, of whatever type.
    var saysNoName: Bool { status == cares_not_found }
    /// Whether it stands for every failure of a server.
    var hasNoReason: Bool { status == cares_connection_refused }

    /// Why there are no addresses.
    func error(for name: String) -> ResolutionError {
        if cares_is_no_such_name(status) != 0 { return .noSuchName(name) }
        if cares_is_no_answer(status) != 0 { return .noAnswer(name) }
        return .failed(name, reason: String(cString: ares_strerror(status)))
    }
}

/// The kinds of addresses, each of which has a record type of its own.
enum Family: CaseIterable {
    /// Asked for first, since it is tried first (RFC 8305 section 3).
    case v6
    case v4

    var number: Int32 { self == .v6 ? AF_INET6 : AF_INET }
}
