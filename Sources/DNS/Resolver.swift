import Bytes
import CCares
import Glibc
import IO

/// Host names to addresses through c-ares, on one loop: hosts file, search domains and TTLs included. The variable
/// `CARES_HOSTS` of the environment names a file to read instead of the system's hosts file.
///
/// Belongs to its loop. Requests for one name at one time share one query.
public final class Resolver {
    private let loop: EventLoop
    private var channel: ares_channel?
    private var watches: [ares_socket_t: DescriptorWatch] = [:]
    private var cache = AddressCache()
    private var waiting: [String: [UnsafeContinuation<Result<[IPAddress], ResolutionError>, Never>]] = [:]
    private var alarm: Alarm?

    /// Milliseconds for the first try of one server; c-ares doubles it for the second.
    private static let timeout: Int32 = 2000
    private static let tries: Int32 = 2

    /// - Parameter servers: `address:port` pairs instead of the system's; for tests.
    public init(on loop: EventLoop, servers: String? = nil) throws(ResolutionError) {
        self.loop = loop
        ares_library_init(ARES_LIB_INIT_ALL)
        var options = ares_options()
        options.timeout = Self.timeout
        options.tries = Self.tries
        options.sock_state_cb = { context, descriptor, read, write in
            guard let context else { return }
            Unmanaged<Resolver>.fromOpaque(context).takeUnretainedValue()
                .watch(descriptor, read: read != 0, write: write != 0)
        }
        options.sock_state_cb_data = Unmanaged.passUnretained(self).toOpaque()
        let mask = ARES_OPT_SOCK_STATE_CB | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES
        try check(ares_init_options(&channel, &options, Int32(mask)), name: "")
        if let servers { try check(ares_set_servers_ports_csv(channel, servers), name: "") }
        alarm = Alarm(on: loop) { [unowned self] in process(ARES_SOCKET_BAD, ARES_SOCKET_BAD) }
    }

    deinit { ares_destroy(channel) }

    /// The addresses of a host name, or of an address in text form.
    /// - Parameter name: lower case, without a trailing dot.
    public func resolve(_ name: String) async throws(ResolutionError) -> [IPAddress] {
        if let address = IPAddress(name) { return [address] }
        // RFC 6761 section 6.3: localhost is never asked of a name server.
        if name == "localhost" || name.hasSuffix(".localhost") {
            return [IPAddress(v4: 0x7F00_0001), IPAddress(v6High: 0, low: 1)]
        }
        if let known = cache.answer(for: name, now: loop.now) { return try known.get() }
        let answer: Result<[IPAddress], ResolutionError> = await withUnsafeContinuation { continuation in
            if waiting[name] != nil {
                waiting[name]?.append(continuation)
            } else {
                waiting[name] = [continuation]
                query(name)
            }
        }
        return try answer.get()
    }

    private func check(_ status: Int32, name: String) throws(ResolutionError) {
        guard status != cares_success else { return }
        throw .failed(name, reason: String(cString: ares_strerror(status)))
    }

    // MARK: - Queries

    /// What c-ares carries back to us: whose query it was.
    private final class Query {
        let resolver: Resolver
        let name: String
        init(resolver: Resolver, name: String) {
            self.resolver = resolver
            self.name = name
        }
    }

    private func query(_ name: String) {
        var hints = ares_addrinfo_hints()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = Int32(ARES_AI_NOSORT | ARES_AI_ENVHOSTS)
        let query = Unmanaged.passRetained(Query(resolver: self, name: name))
        ares_getaddrinfo(
            channel, name, nil, &hints,
            { context, status, _, list in
                guard let context else { return }
                let query = Unmanaged<Query>.fromOpaque(context).takeRetainedValue()
                query.resolver.finish(query.name, status: status, list: list)
                if let list { ares_freeaddrinfo(list) }
            }, query.toOpaque())
        rearm()
    }

    private func finish(_ name: String, status: Int32, list: UnsafeMutablePointer<ares_addrinfo>?) {
        let answer: Result<[IPAddress], ResolutionError>
        var seconds = Int(Int32.max)
        let addresses = Self.addresses(in: list, seconds: &seconds)
        if status == cares_success, !addresses.isEmpty {
            cache.store(addresses, for: name, seconds: seconds, now: loop.now)
            answer = .success(addresses)
        } else {
            let error = Self.error(status, name: name)
            cache.store(error, for: name, now: loop.now)
            answer = .failure(error)
        }
        for continuation in waiting.removeValue(forKey: name) ?? [] { continuation.resume(returning: answer) }
    }

    private static func addresses(
        in list: UnsafeMutablePointer<ares_addrinfo>?, seconds: inout Int
    ) -> [IPAddress] {
        var found: [IPAddress] = []
        var next = list?.pointee.nodes
        while let node = next, found.count < 64 {
            if let system = node.pointee.ai_addr, let address = SocketAddress(system: system) {
                found.append(address.address)
                seconds = min(seconds, Int(node.pointee.ai_ttl))
            }
            next = node.pointee.ai_next
        }
        return found
    }

    private static func error(_ status: Int32, name: String) -> ResolutionError {
        if cares_is_no_such_name(status) != 0 { return .noSuchName(name) }
        if cares_is_no_answer(status) != 0 { return .noAnswer(name) }
        return .failed(name, reason: String(cString: ares_strerror(status)))
    }

    // MARK: - Descriptors and time

    private func watch(_ descriptor: ares_socket_t, read: Bool, write: Bool) {
        guard read || write else {
            watches.removeValue(forKey: descriptor)?.stop()
            return
        }
        if let watch = watches[descriptor] { return watch.update(read: read, write: write) }
        // Failing to watch leaves the query to its time-out.
        watches[descriptor] = try? DescriptorWatch(borrowing: descriptor, on: loop, read: read, write: write) {
            [unowned self] readable, writable in
            process(readable ? descriptor : ARES_SOCKET_BAD, writable ? descriptor : ARES_SOCKET_BAD)
        }
    }

    private func process(_ readable: ares_socket_t, _ writable: ares_socket_t) {
        ares_process_fd(channel, readable, writable)
        rearm()
    }

    private func rearm() {
        var limit = timeval()
        guard let time = ares_timeout(channel, nil, &limit) else {
            alarm?.cancel()
            return
        }
        alarm?.set(after: time.pointee.tv_sec * 1000 + time.pointee.tv_usec / 1000 + 1)
    }
}
