import Foundation
import Synchronization
import TestSupport

/// A real squid as parent proxy, one process for each set of schemes, started when first asked for.
struct SquidServer: Sendable {
    /// The login that squid asks its clients for.
    enum Demand: String, CaseIterable {
        case nothing, basic, digest
        /// NTLM with a challenge of 49 bytes whose target name lies outside of it; any password is right.
        case ntlm
        case all
        /// Negotiate, with the keys of a Kerberos service.
        case negotiate
        /// Negotiate, and all others.
        case everything

        /// The demands that a user and a password can answer.
        static let passwords: [Demand] = [.nothing, .basic, .digest, .ntlm, .all]
        var needsKerberos: Bool { self == .negotiate || self == .everything }
    }

    /// A line of its log.
    struct Entry {
        let connection: String
        let method: String
        let target: String
        let status: Int
        let user: String
        let authorization: String?
    }

    private static let started = Mutex<[Demand: Result<SquidServer, any Error>]>([:])

    static func shared(_ demand: Demand) throws -> SquidServer {
        try started.withLock { started in
            if let known = started[demand] { return known }
            let made = Result { try SquidServer(demand) }
            started[demand] = made
            return made
        }.get()
    }

    static let realm = "parent realm"
    /// A host that is blocked, as are pages below `/blocked/`. The `http_access` lines for them end with an authentication ACL:
    /// so squid answers `407`, even to a user who is logged in.
    static let blockedHost = "blocked.example.test"
    private static let service = "HTTP/localhost@\(KerberosRealm.name)"

    let port: UInt16
    let folder: String
    private let child: Subprocess

    private init(_ demand: Demand) throws {
        folder = Scratch.folder("squid")
        port = FreePort.take()
        // Its shared memory is everybody's on this machine.
        let service = "attache" + UUID().uuidString.filter(\.isHexDigit).prefix(16).lowercased()
        let crypt = try OpenSSLCommand.run("passwd", "-5", Account.password)
        let users = [Account.user, Account.loneUser]
        let words = crypt.split(separator: "\n").joined()
        try Scratch.write(users.map { "\($0):\(words)\n" }.joined(), to: folder + "/users")
        let digests = try users.map { user in
            "\(user):\(Self.realm):\(try Hash.hex("md5", "\(user):\(Self.realm):\(Account.password)"))\n"
        }
        try Scratch.write(digests.joined(), to: folder + "/digests")
        try Scratch.write(try Self.configuration(demand, port, folder), to: folder + "/squid.conf")
        let names = Set(["localhost", ApacheServer.secureHost, TLSFront.host])
        try Scratch.write(names.map { "127.0.0.1 \($0)\n" }.joined(), to: folder + "/hosts")
        var environment: [String: String] = [:]
        if demand.needsKerberos {
            let realm = try KerberosRealm.shared()
            environment = ["KRB5_CONFIG": realm.configurationPath, "KRB5RCACHEDIR": folder]
            try FileManager.default.copyItem(atPath: realm.serviceKeytab, toPath: folder + "/keytab")
        }
        if getuid() == 0 {
            _ = try Finished.run("chown", ["-R", "proxy", folder])
        }
        // It leaves its shared memory behind.
        LastWill.shared.remove(folder: "/dev/shm/\(service)-*")
        child = try Subprocess(
            "squid", ["-N", "-n", service, "-f", folder + "/squid.conf"], environment: environment, directory: folder)
        do {
            try Socket.awaitListener(on: port, of: child)
        } catch {
            throw Spawn.Failure(description: "\(error)\n\(Scratch.read(folder + "/cache.log"))")
        }
    }

    var address: String { "127.0.0.1:\(port)" }

    /// Requests whose target holds the mark, oldest first: waits until there are so many.
    func entries(marked mark: String, atLeast count: Int = 1) -> [Entry] {
        var found: [Entry] = []
        _ = Wait.until {
            found = Scratch.read(folder + "/access.log").split(separator: "\n").compactMap(Self.entry)
                .filter { $0.target.contains(mark) }
            return found.count >= count
        }
        return found
    }

    private static func entry(_ line: Substring) -> Entry? {
        let parts = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6, let status = Int(parts[3]) else { return nil }
        return Entry(
            connection: parts[0], method: parts[1], target: parts[2], status: status, user: parts[4],
            authorization: parts[5] == "-" ? nil : parts[5])
    }

    /// The request buffer is larger than any upload: squid 5.7 takes a full one for a client that has gone.
    private static func configuration(_ demand: Demand, _ port: UInt16, _ folder: String) throws -> String {
        let helpers = "/usr/lib/squid"
        let basic = """
            auth_param basic program \(helpers)/basic_ncsa_auth \(folder)/users
            auth_param basic children 5 startup=1
            auth_param basic realm \(realm)
            """
        let digest = """
            auth_param digest program \(helpers)/digest_file_auth -c \(folder)/digests
            auth_param digest children 5 startup=1
            auth_param digest realm \(realm)
            auth_param digest nonce_max_duration 2 seconds
            auth_param digest nonce_garbage_interval 1 seconds
            auth_param digest nonce_max_count 50
            """
        let ntlm = """
            auth_param ntlm program \(helpers)/ntlm_fake_auth
            auth_param ntlm children 20 startup=2
            """
        let negotiate = """
            auth_param negotiate program \(helpers)/negotiate_kerberos_auth -k \(folder)/keytab -s \(Self.service)
            auth_param negotiate children 5 startup=1
            """
        let methods =
            switch demand {
            case .nothing: [String]()
            case .basic: [basic]
            case .digest: [digest]
            case .ntlm: [ntlm]
            case .all: [ntlm, digest, basic]
            case .negotiate: [negotiate]
            case .everything: [negotiate, ntlm, digest, basic]
            }
        let admission =
            methods.isEmpty
            ? "http_access allow all"
            : """
            acl known proxy_auth REQUIRED
            acl page urlpath_regex ^/blocked/
            acl host dstdomain \(blockedHost)
            http_access deny page known
            http_access deny host known
            http_access allow known
            http_access deny all
            """
        return """
            http_port 127.0.0.1:\(port)
            visible_hostname parent.example.test
            hosts_file \(folder)/hosts
            pid_filename none
            cache_log \(folder)/cache.log
            logformat attache %>p %rm %ru %>Hs %un %{Proxy-Authorization}>h
            access_log stdio:\(folder)/access.log logformat=attache
            access_log stdio:\(folder)/native.log logformat=squid
            strip_query_terms off
            buffered_logs off
            coredump_dir \(folder)
            cache deny all
            cache_mem 8 MB
            client_request_buffer_max_size 64 MB
            memory_cache_shared off
            netdb_filename none
            pinger_enable off
            shutdown_lifetime 1 seconds
            \(methods.joined(separator: "\n"))
            \(admission)

            """
    }
}
