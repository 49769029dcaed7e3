import Foundation
import TestSupport

/// An Active Directory domain of Samba's, with one controller in a folder of its own. Most of a controller's ports are fixed, so
/// it has a loopback address of its own, which makes room for another run. Nothing of the machine's configuration is used.
final class SambaDomain: Sendable {
    /// Whether a controller can run here: its ports need root, and web servers that ask winbindd a mount namespace.
    static let isAvailable: Bool = {
        let programs = ["samba", "samba-tool", "winbindd", "unshare"]
        guard getuid() == 0, programs.allSatisfy({ (try? Spawn.executable($0)) != nil }) else { return false }
        guard access("/usr/share/samba/setup/provision.ldif", R_OK) == 0 else { return false }
        return (try? Finished.run("unshare", ["-m", "mount", "--bind", "/tmp", "/run"]))?.succeeded ?? false
    }()

    static let realm = "AD.TEST"
    static let name = "ADTEST"
    /// The number of wrong passwords in half an hour that locks an account.
    static let lockLimit = 5
    /// The account of services that look users up.
    static let service = (user: "websvc", password: "W3b-Service-Pass")

    let folder: String
    /// The loopback address where it listens.
    let address: String
    private let controller: Subprocess

    init() throws {
        folder = Scratch.folder("samba")
        address = "127.\(Int.random(in: 64...127)).\(Int.random(in: 0...255)).\(Int.random(in: 1...254))"
        for name in ["state", "cache", "lock", "private", "ncalrpc", "sysvol/scripts", "run/samba/winbindd"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(name)", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755])
        }
        try Scratch.write(Self.configuration(folder, address), to: folder + "/smb.conf")
        try Scratch.write(Self.kerberosConfiguration(address), to: folder + "/krb5.conf")
        try Self.administer(
            folder, "domain", "provision", "--realm=\(Self.realm)", "--domain=\(Self.name)", "--server-role=dc",
            "--dns-backend=NONE", "--host-name=dc", "--host-ip=\(address)", "--adminpass=Adm1n-Pass/77")
        controller = try Subprocess("samba", ["-i", "-M", "single", "-s", folder + "/smb.conf"], directory: folder)
        // Kerberos, LDAP, and the end-point mapper, which winbindd needs.
        for port: UInt16 in [88, 389, 135] { try Socket.awaitListener(on: port, at: address, of: controller) }
        let privileged = folder + "/state/winbindd_privileged"
        guard Wait.until(seconds: 60, { access("\(privileged)/pipe", F_OK) == 0 }) else {
            throw Spawn.Failure(description: "winbindd does not start: \(controller.errorOutput)")
        }
        // The web server asks there about answers to NTLM challenges.
        let shared = try Finished.run("chgrp", ["www-data", privileged])
        guard shared.succeeded else { throw Spawn.Failure(description: shared.description) }

        try administer(
            "domain", "passwordsettings", "set", "--complexity=off", "--min-pwd-length=4", "--min-pwd-age=0",
            "--max-pwd-age=0", "--account-lockout-threshold=\(Self.lockLimit)", "--account-lockout-duration=30",
            "--reset-account-lockout-after=30")
        try add(Self.service.user, Self.service.password)
        try administer("spn", "add", "HTTP/localhost", Self.service.user)
        try administer("domain", "exportkeytab", serviceKeytab, "--principal=HTTP/localhost")
        chmod(serviceKeytab, 0o644)
    }

    // MARK: What others are started with

    /// The Kerberos configuration.
    var environment: [String: String] { ["KRB5_CONFIG": folder + "/krb5.conf"] }
    /// The keys of the web servers at `localhost`.
    var serviceKeytab: String { folder + "/service.keytab" }
    /// The folder to mount as `/run` for programs that ask winbindd: libwbclient has a fixed path for its socket.
    var run: String { folder + "/run" }
    /// The distinguished name of the folder of users.
    var users: String { "CN=Users,DC=ad,DC=test" }

    // MARK: Accounts

    func add(_ user: String, _ password: String) throws { try administer("user", "create", user, password) }

    /// Sets another password. At LDAP and NTLM the two passwords before it are refused, but not counted as wrong. A KDC counts
    /// each wrong password.
    func change(_ user: String, to password: String) throws {
        try administer("user", "setpassword", user, "--newpassword=\(password)")
    }

    /// The number of wrong passwords that were counted, and whether the account is locked.
    func failures(of user: String) throws -> (count: Int, isLocked: Bool) {
        let shown = try administer("user", "show", user, "--attributes=badPwdCount,lockoutTime")
        let lines = shown.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let value = { (name: String) in lines.first { $0.first == name + ":" }?.last.flatMap { Int($0) } ?? 0 }
        return (value("badPwdCount"), value("lockoutTime") != 0)
    }

    /// Runs a command of `samba-tool`.
    @discardableResult
    private func administer(_ words: String...) throws -> String { try Self.administer(folder, words) }

    private static func administer(_ folder: String, _ words: String...) throws { try administer(folder, words) }

    @discardableResult
    private static func administer(_ folder: String, _ words: [String]) throws -> String {
        let run = try Finished.run("samba-tool", words + ["-s", folder + "/smb.conf"], directory: folder)
        guard run.succeeded else { throw Spawn.Failure(description: run.description) }
        return run.output
    }

    private static func configuration(_ folder: String, _ address: String) -> String {
        """
        [global]
            netbios name = DC
            realm = \(realm)
            workgroup = \(name)
            server role = active directory domain controller
            server services = rpc, ldap, kdc, winbindd
            interfaces = \(address)/8
            bind interfaces only = yes
            disable netbios = yes
            kpasswd port = 0
            tls enabled = no
            ldap server require strong auth = no
            old password allowed period = 0
            rpc server dynamic port range = 49152-49200
            state directory = \(folder)/state
            cache directory = \(folder)/cache
            lock directory = \(folder)/lock
            pid directory = \(folder)/run
            private dir = \(folder)/private
            binddns dir = \(folder)/private
            ncalrpc dir = \(folder)/ncalrpc
            winbindd socket directory = \(folder)/run/samba/winbindd
            log file = \(folder)/%m.log
            logging = file
        [sysvol]
            path = \(folder)/sysvol
        [netlogon]
            path = \(folder)/sysvol/scripts

        """
    }

    private static func kerberosConfiguration(_ address: String) -> String {
        """
        [libdefaults]
            default_realm = \(realm)
            dns_lookup_realm = false
            dns_lookup_kdc = false
            dns_canonicalize_hostname = false
            rdns = false
            udp_preference_limit = 1
        [realms]
            \(realm) = {
                kdc = \(address)
            }
        [domain_realm]
            localhost = \(realm)

        """
    }
}
