import Foundation
import Synchronization

/// A Kerberos realm with an MIT KDC of its own, in a folder of its own: nothing of the machine's configuration is used.
final class KerberosRealm: Sendable {
    private static let started = Result { try KerberosRealm() }

    /// The realm for tests that leave the KDC alone.
    static func shared() throws -> KerberosRealm { try started.get() }

    static let name = "ATTACHE.TEST"
    /// Services of `HTTP` that the KDC knows.
    static let hosts = ["localhost", "apache.example.test", "proxy.example.test"]

    let folder: String
    let port: UInt16
    private let kdc = Mutex<Subprocess?>(nil)
    private let silence = Mutex<Int32?>(nil)

    /// - Parameter life: how long tickets hold, as kdc.conf writes it.
    init(life: String = "10h") throws {
        folder = Scratch.folder("realm")
        port = FreePort.take()
        try Scratch.write(configuration, to: configurationPath)
        try Scratch.write(
            configuration.replacing("[libdefaults]", with: "[libdefaults]\n    clockskew = -1"),
            to: skewedConfigurationPath)
        try Scratch.write(kdcConfiguration(life), to: folder + "/kdc.conf")
        try run("kdb5_util", "create", "-s", "-P", Account.kerberosPassword)
        for (name, password) in Account.principals {
            try administer("addprinc -pw \(password) \(name)")
            try administer("ktadd -norandkey -k \(keytab(name)) \(name)")
        }
        for host in Self.hosts {
            try administer("addprinc -randkey HTTP/\(host)")
            try administer("ktadd -k \(serviceKeytab) HTTP/\(host)")
        }
        // The web server gives up root before it reads its keys.
        chmod(serviceKeytab, 0o644)
        try startKDC()
    }

    // MARK: What others are started with

    var configurationPath: String { folder + "/krb5.conf" }
    /// A configuration in which all clocks differ too much.
    var skewedConfigurationPath: String { folder + "/skewed.conf" }
    var environment: [String: String] { environment(isSkewed: false) }
    func environment(isSkewed: Bool) -> [String: String] {
        [
            "KRB5_CONFIG": isSkewed ? skewedConfigurationPath : configurationPath, "KRB5RCACHEDIR": folder,
            "KRB5_KDC_PROFILE": folder + "/kdc.conf",
        ]
    }
    /// The keys of every service.
    var serviceKeytab: String { folder + "/services.keytab" }

    func principal(_ name: String) -> String { "\(name)@\(Self.name)" }

    /// The keys of a user, as long as the password is not changed.
    func keytab(_ user: String) -> String { "\(folder)/\(user).keytab" }

    /// A new cache file with a ticket of the user's, or of a service's.
    func cache(_ user: String, life: String = "1h") throws -> String {
        let path = "\(folder)/cache.\(UUID().uuidString.prefix(8))"
        let keytab = user.contains("/") ? serviceKeytab : keytab(user)
        try run("kinit", "-l", life, "-k", "-t", keytab, "-c", path, principal(user))
        return path
    }

    // MARK: What happens to it

    /// A command of `kadmin.local`.
    func administer(_ command: String) throws {
        try run("kadmin.local", "-r", Self.name, "-q", command)
    }

    /// Gives a principal another key, and puts a keytab that has only this one in the place of the old.
    func rotate(_ principal: String, in keytab: String) throws {
        try administer("ktadd -k \(keytab).new \(principal)")
        chmod("\(keytab).new", 0o644)
        rename("\(keytab).new", keytab)
    }

    func startKDC(isSkewed: Bool = false) throws {
        silence.withLock { silence in
            if let descriptor = silence { close(descriptor) }
            silence = nil
        }
        try kdc.withLock { kdc in
            let started = try Subprocess(
                "krb5kdc", ["-n", "-r", Self.name, "-P", folder + "/kdc.pid"],
                environment: environment(isSkewed: isSkewed), directory: folder)
            do {
                try Socket.awaitListener(on: port, of: started)
            } catch {
                throw Spawn.Failure(description: "\(error)\n\(Scratch.read(folder + "/kdc.log"))")
            }
            kdc = started
        }
    }

    /// Stops the KDC: its port has no listener.
    func stopKDC() {
        kdc.withLock { kdc in
            _ = kdc?.kill()
            kdc = nil
        }
    }

    /// Replaces the KDC by a listener that accepts connections and sends nothing.
    func silenceKDC() throws {
        stopKDC()
        let descriptor = try Socket.listen(on: port)
        silence.withLock { $0 = descriptor }
    }

    /// The requests that the KDC got, a line for each: `AS_REQ … alice@ATTACHE.TEST for krbtgt/…`.
    func requests(_ kind: String, of principal: String = "") -> [String] {
        Scratch.read(folder + "/kdc.log").split(separator: "\n").map(String.init)
            .filter { $0.contains(kind) && $0.contains(principal) }
    }

    private func run(_ name: String, _ arguments: String...) throws {
        let run = try Finished.run(name, arguments, environment: environment, directory: folder)
        guard run.succeeded else { throw Spawn.Failure(description: run.description) }
    }

    private var configuration: String {
        """
        [libdefaults]
            default_realm = \(Self.name)
            dns_lookup_realm = false
            dns_lookup_kdc = false
            dns_canonicalize_hostname = true
            rdns = true
            forwardable = true
            udp_preference_limit = 1
        [realms]
            \(Self.name) = {
                kdc = 127.0.0.1:\(port)
            }
        [domain_realm]
            localhost = \(Self.name)

        """
    }

    /// The KDC uses TCP alone: the port's number is not reserved for UDP, so another program may have it.
    private func kdcConfiguration(_ life: String) -> String {
        """
        [kdcdefaults]
            kdc_listen = ""
            kdc_tcp_listen = 127.0.0.1:\(port)
        [realms]
            \(Self.name) = {
                database_name = \(folder)/principal
                key_stash_file = \(folder)/stash
                max_life = \(life)
                supported_enctypes = aes256-cts-hmac-sha1-96:normal
                default_principal_flags = +preauth
            }
        [logging]
            kdc = FILE:\(folder)/kdc.log

        """
    }
}
