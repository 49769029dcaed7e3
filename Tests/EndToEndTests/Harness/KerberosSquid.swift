import Foundation
import TestSupport

/// A real squid as parent proxy that asks for Negotiate, as the service of `localhost` in a Kerberos realm.
final class KerberosSquid: Sendable {
    let port: UInt16
    let folder: String
    private let child: Subprocess

    init(in realm: KerberosRealm) throws {
        folder = Scratch.folder("kerberos-squid")
        port = FreePort.take()
        // Its shared memory is everybody's on this machine.
        let service = "attache" + UUID().uuidString.filter(\.isHexDigit).prefix(16).lowercased()
        try Scratch.write(Self.configuration(folder, port, realm), to: folder + "/squid.conf")
        if getuid() == 0 { _ = try Finished.run("chown", ["-R", "proxy", folder]) }
        // It leaves its shared memory behind.
        LastWill.shared.remove(folder: "/dev/shm/\(service)-*")
        child = try Subprocess(
            "squid", ["-N", "-n", service, "-f", folder + "/squid.conf"],
            environment: ["KRB5_CONFIG": realm.configurationPath, "KRB5RCACHEDIR": folder], directory: folder)
        do {
            try Socket.awaitListener(on: port, of: child)
        } catch {
            throw Spawn.Failure(description: "\(error)\n\(Scratch.read(folder + "/cache.log"))")
        }
    }

    /// `METHOD status user` of the requests whose target holds the mark, oldest first.
    func entries(marked mark: String, atLeast count: Int = 1) -> [String] {
        var found: [String] = []
        _ = Wait.until {
            found = Scratch.read(folder + "/access.log").split(separator: "\n").filter { $0.contains(mark) }
                .map { $0.split(separator: " ").prefix(3).joined(separator: " ") }
            return found.count >= count
        }
        return found
    }

    private static func configuration(_ folder: String, _ port: UInt16, _ realm: KerberosRealm) -> String {
        """
        http_port 127.0.0.1:\(port)
        visible_hostname parent.example.test
        auth_param negotiate program /usr/lib/squid/negotiate_kerberos_auth -k \(realm.serviceKeytab) \
        -s HTTP/localhost@\(KerberosRealm.name)
        auth_param negotiate children 5 startup=1
        acl known proxy_auth REQUIRED
        http_access allow known
        http_access deny all
        client_request_buffer_max_size 4 MB
        logformat attache %rm %>Hs %un %ru
        access_log stdio:\(folder)/access.log attache
        cache_log \(folder)/cache.log
        pid_filename \(folder)/squid.pid
        coredump_dir \(folder)
        cache deny all
        strip_query_terms off
        shutdown_lifetime 0 seconds

        """
    }
}
