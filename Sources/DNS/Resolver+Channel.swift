import Bytes
import CCares
import Glibc
import IO

extension Resolver {
    /// A channel of c-ares on a loop, with its sockets and time-outs.
    final class Channel {
        enum Purpose {
            /// Asks for a name as it is, one server after the other.
            case nameServers
            /// Asks one server for a name as it is, and returns its answer even if it is a refusal.
            case reasons
            case hostsFile
        }

        private(set) var pointer: ares_channel?
        /// The number of queries in flight.
        var queries = 0
        private let loop: EventLoop
        private var watches: [ares_socket_t: DescriptorWatch] = [:]
        private var alarm: Alarm?

        /// The time of the first try of one server; c-ares doubles them for the second.
        private static let timeout = Milliseconds.seconds(2)
        private static let tries: Int32 = 2

        /// - Parameters:
        ///   - file: the path of resolv.conf(5).
        ///   - servers: used in place of those in the file.
        init(
            _ purpose: Purpose, on loop: EventLoop, by file: String, servers: String? = nil
        ) throws(Resolution.Failure) {
            self.loop = loop
            var options = ares_options()
            options.timeout = Int32(clamping: Self.timeout.count)
            options.tries = Self.tries
            // The names are already complete.
            options.ndomains = 0
            options.sock_state_cb = { context, descriptor, read, write in
                guard let context else { return }
                Unmanaged<Resolver.Channel>.fromOpaque(context).takeUnretainedValue()
                    .watch(descriptor, read: read != 0, write: write != 0)
            }
            options.sock_state_cb_data = Unmanaged.passUnretained(self).toOpaque()
            var mask =
                ARES_OPT_SOCK_STATE_CB | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_DOMAINS | ARES_OPT_LOOKUPS
            if purpose == .reasons {
                options.flags = ARES_FLAG_NOCHECKRESP
                mask |= ARES_OPT_FLAGS
            }
            let lookups = strdup(purpose == .hostsFile ? "f" : "b")
            defer { free(lookups) }
            options.lookups = lookups
            let path = strdup(file)
            defer { free(path) }
            options.resolvconf_path = path
            mask |= ARES_OPT_RESOLVCONF
            try Self.check(ares_init_options(&pointer, &options, Int32(mask)))
            if let servers { try Self.check(ares_set_servers_ports_csv(pointer, servers)) }
            alarm = Alarm(on: loop) { [unowned self] in process(ARES_SOCKET_BAD, ARES_SOCKET_BAD) }
        }

        deinit { ares_destroy(pointer) }

        static func check(_ status: Int32) throws(Resolution.Failure) {
            guard status != cares_success else { return }
            throw .failed("", reason: String(cString: ares_strerror(status)))
        }

        // MARK: - Descriptors and time

        private func watch(_ descriptor: ares_socket_t, read: Bool, write: Bool) {
            guard read || write else {
                watches.removeValue(forKey: descriptor)?.stop()
                return
            }
            if let watch = watches[descriptor] { return watch.update(read: read, write: write) }
            // If the watch fails, the query ends by its time-out.
            watches[descriptor] = try? DescriptorWatch(borrowing: descriptor, on: loop, read: read, write: write) {
                [unowned self] readable, writable in
                process(readable ? descriptor : ARES_SOCKET_BAD, writable ? descriptor : ARES_SOCKET_BAD)
            }
        }

        private func process(_ readable: ares_socket_t, _ writable: ares_socket_t) {
            ares_process_fd(pointer, readable, writable)
            rearm()
        }

        func rearm() {
            var limit = timeval()
            guard let time = ares_timeout(pointer, nil, &limit) else {
                alarm?.cancel()
                return
            }
            alarm?.set(after: .seconds(time.pointee.tv_sec) + Milliseconds(time.pointee.tv_usec / 1000 + 1))
        }

        /// The file with the name servers and search domains (resolv.conf(5)). It changes while the program runs when a
        /// network is joined or left.
        struct SettingsFile {
            static let ofSystem = "/etc/resolv.conf"

            let path: String
            private let isRead: Bool
            private var stamp: SmallFile.Stamp?
            private var lookedAt: LoopInstant?

            /// The time between two checks.
            private static let pause: Milliseconds = 1000

            /// - Parameter isRead: false: the file counts as unchanged.
            init(_ path: String, isRead: Bool) {
                self.path = path
                self.isRead = isRead
            }

            /// Whether the file differs from the last check. A missing file counts as unchanged: it is being replaced.
            mutating func hasChanged(at now: LoopInstant) -> Bool {
                guard isRead else { return false }
                guard let lookedAt else {
                    (lookedAt, stamp) = (now, SmallFile.Stamp(path: path))
                    return false
                }
                guard now >= lookedAt + Self.pause else { return false }
                self.lookedAt = now
                guard let found = SmallFile.Stamp(path: path), found != stamp else { return false }
                stamp = found
                return true
            }
        }

        /// The settings for names in `resolv.conf`, `nsswitch.conf` and the environment, as c-ares reads them.
        struct Settings {
            private let domains: [String]
            /// The `ndots` option: a name with at least this many dots is tried as it is before a domain is appended.
            private let dots: Int
            /// The sources in order: `f` for the hosts file, `b` for name servers.
            private let sources: String

            init(domains: [String], dots: Int, sources: String) {
                self.domains = domains
                self.dots = dots
                self.sources = sources
            }

            /// - Parameter file: the path of resolv.conf(5).
            init(in file: String) throws(Resolution.Failure) {
                var channel: ares_channel?
                var wanted = ares_options()
                let path = strdup(file)
                defer { free(path) }
                wanted.resolvconf_path = path
                try Resolver.Channel.check(ares_init_options(&channel, &wanted, Int32(ARES_OPT_RESOLVCONF)))
                defer { ares_destroy(channel) }
                var options = ares_options()
                var mask: Int32 = 0
                try Resolver.Channel.check(ares_save_options(channel, &options, &mask))
                defer { ares_destroy_options(&options) }
                domains = (0..<max(0, Int(options.ndomains))).compactMap { place in
                    options.domains?[place].flatMap { String(validatingCString: $0) }
                }
                dots = Int(options.ndots)
                sources = options.lookups.flatMap { String(validatingCString: $0) } ?? "fb"
            }

            var asksServers: Bool { sources.contains("b") }
            var readsHostsFirst: Bool { sources.first == "f" }
            var readsHostsLast: Bool { !readsHostsFirst && sources.contains("f") }

            /// The forms of a name in the order of the queries (resolv.conf(5), `ndots`).
            func candidates(for name: String) -> [String] {
                let longer = domains.map { $0 == "." ? name : "\(name).\($0)" }
                let isFirst = name.utf8.count { $0 == UInt8(ascii: ".") } >= dots
                return isFirst ? [name] + longer : longer + [name]
            }
        }
    }
}
