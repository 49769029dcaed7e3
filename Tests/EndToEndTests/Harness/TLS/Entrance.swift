import Foundation
import TestSupport

/// A way into the proxy that leads to an https origin.
enum Entrance: String, CaseIterable, Sendable {
    /// `GET https://…` in clear, as busybox's wget does it.
    case clear
    /// `GET http://…`, which a route upgrades.
    case upgraded
    /// CONNECT, which a route intercepts.
    case intercepted
}

extension AttacheProcess {
    /// Runs a proxy that takes the zoo's root for the system's, finds the names of the tests, and opens every entrance to
    /// them. The rules stand before those routes.
    static func visitingZoo(
        _ rules: String = "", setting: Setting = Setting(threads: 1), _ body: (AttacheProcess) throws -> Void
    ) throws {
        var setting = setting
        setting.environment.merge(try environmentOfZoo()) { _, new in new }
        try running(rules + "\n" + routesToZoo, setting: setting, body)
    }

    /// The variables by which a proxy takes the zoo's root for the system's, and finds the names of the tests.
    static func environmentOfZoo() throws -> [String: String] {
        [
            "SSL_CERT_FILE": try Hierarchy.shared().root.certificate, "SSL_CERT_DIR": Scratch.folder("no-anchors"),
            "CARES_HOSTS": HostsFile.path,
        ]
    }

    static let routesToZoo = "route *.example.test { upgrade; intercept }\nroute 127.0.0.1 { upgrade; intercept }\n"

    /// The certificate that clients of intercepted tunnels trust.
    func exportedAuthority() throws -> String {
        let path = folder + "/authority.exported.pem"
        if access(path, R_OK) == 0 { return path }
        let run = try AttacheBinary.run("authority", "export", "--config", folder + "/proxy.conf")
        guard run.succeeded else { throw Spawn.Failure(description: run.description) }
        try Scratch.write(run.output, to: path)
        return path
    }

    /// One request for `https://AUTHORITY/PATH` on connections of its own.
    func visit(
        _ authority: String, _ path: String = "/", by entrance: Entrance, _ options: [String] = []
    ) throws -> Fetched {
        let (secure, plain) = ("https://\(authority)\(path)", "http://\(authority)\(path)")
        let proxied = ["-x", address] + options
        switch entrance {
        case .clear: return try Curl.fetch(plain, proxied + ["--request-target", secure])
        case .upgraded: return try Curl.fetch(plain, proxied)
        case .intercepted: return try Curl.fetch(secure, proxied + ["--cacert", exportedAuthority()])
        }
    }

    func visit(
        _ specimen: Specimen, _ path: String = "/", by entrance: Entrance, _ options: String...
    ) throws -> Fetched {
        try visit(Zoo.shared().authority(of: specimen), path, by: entrance, options)
    }

    /// The last entry of the access log about a target that contains the mark.
    func record(marked mark: String) throws -> AccessRecord? {
        var found: AccessRecord?
        _ = try Wait.until {
            found = try accessLogLines.map(AccessRecord.init)
                .last { $0["target"]?.contains(mark) == true && $0["method"] != "CONNECT" }
            return found != nil
        }
        return found
    }
}
