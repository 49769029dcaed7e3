import Bytes
import CCares
import Glibc
import IO

/// A name that is being resolved, with the callers that wait for it.
final class Lookup {
    /// The address families. Each has a record type of its own.
    enum Family: CaseIterable {
        /// IPv6, queried first since it is tried first (RFC 8305 section 3).
        case v6
        case v4

        var number: Int32 { self == .v6 ? AF_INET6 : AF_INET }
    }

    enum Step {
        case wait
        /// The current form of the name has no address: the next form is to be tried.
        case next
        case finish(Result<Lookup.Answer, Resolution.Failure>)
    }

    let name: String
    let system: Resolver.Channel.Settings
    /// The forms of the name that are still to be tried.
    var candidates: ArraySlice<String>
    private var waiting: [UnsafeContinuation<Void, Never>] = []
    /// The result for the waiting callers; at first perhaps only one family's addresses.
    private var result: Result<Resolution, Resolution.Failure>?
    /// The number of the current form, to tell its answers from those to another.
    private(set) var round = 0
    private var answers: [Family: Lookup.Answer] = [:]
    private var delay: Alarm?
    private let loop: EventLoop

    /// The time for which one family's addresses wait for the other's: RFC 8305 section 3, "Resolution Delay".
    private static let resolutionDelay: Milliseconds = 50

    init(_ name: String, by system: Resolver.Channel.Settings, on loop: EventLoop) {
        self.name = name
        self.system = system
        candidates = system.candidates(for: name)[...]
        self.loop = loop
    }

    /// Waits for the addresses of at least one family.
    func outcome() async throws(Resolution.Failure) -> Resolution {
        while true {
            if let result { return try result.get() }
            await withUnsafeContinuation { waiting.append($0) }
        }
    }

    private func tell(_ result: Result<Resolution, Resolution.Failure>) {
        self.result = result
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    /// Begins with another form of the name.
    func begin() {
        round += 1
        answers = [:]
    }

    func take(_ answer: Lookup.Answer, of family: Family) -> Step {
        answers[family] = answer
        guard let six = answers[.v6], let four = answers[.v4] else {
            if !answer.addresses.isEmpty { startDelay() }
            // A correct server does not deny a name that has other records. But many do so for IPv6 queries (RFC 4074
            // section 4.2).
            return family == .v4 && answer.saysNoName ? .next : .wait
        }
        let both = Lookup.Answer(six, four)
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

    func finish(_ answer: Result<Lookup.Answer, Resolution.Failure>) {
        delay?.cancel()
        guard case .success(let early)? = result else { return tell(answer.map { Resolution($0.addresses) }) }
        let addresses = (try? answer.get())?.addresses ?? []
        early.complete(with: addresses.filter { !early.addresses.contains($0) })
    }

    /// The result of one query of c-ares.
    struct Answer {
        var addresses: [IPAddress] = []
        /// The shortest TTL.
        var lifetime = Milliseconds.seconds(Int(Int32.max))
        private let status: Int32

        private static let capacity = 64

        init(status: Int32, list: UnsafeMutablePointer<ares_addrinfo>?) {
            self.status = status
            var next = list?.pointee.nodes
            while let node = next, addresses.count < Self.capacity {
                if let system = node.pointee.ai_addr, let address = SocketAddress(system: system) {
                    addresses.append(address.address)
                    lifetime = min(lifetime, .seconds(Int(node.pointee.ai_ttl)))
                }
                next = node.pointee.ai_next
            }
        }

        /// Combines the answers of both families.
        init(_ six: Lookup.Answer, _ four: Lookup.Answer) {
            status = four.status
            addresses = six.addresses + four.addresses
            lifetime = min(six.lifetime, four.lifetime)
        }

        /// Whether the name does not exist, for any record type.
        var saysNoName: Bool { status == cares_not_found }
        /// Whether the status is the one that covers all failures of a server.
        var hasNoReason: Bool { status == cares_connection_refused }

        /// The reason why there are no addresses.
        func error(for name: String) -> Resolution.Failure {
            if cares_is_no_such_name(status) != 0 { return .noSuchName(name) }
            if cares_is_no_answer(status) != 0 { return .noAnswer(name) }
            return .failed(name, reason: String(cString: ares_strerror(status)))
        }
    }
}
