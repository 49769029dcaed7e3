import Foundation
import TestSupport

/// A real nginx with one server block for each port.
final class NginxServer: Sendable {
    /// A line of the access log.
    struct Entry {
        private let members: [String: String]

        init?(_ line: Substring) {
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == NginxConfiguration.logged.count else { return nil }
            members = Dictionary(uniqueKeysWithValues: zip(NginxConfiguration.logged, parts))
        }

        private func member(_ name: String) -> String { members[name] ?? "" }

        var connection: String { member("connection") }
        var method: String { member("request_method") }
        var target: String { member("request_uri") }
        var host: String { member("http_host") }
        var status: Int { Int(member("status")) ?? 0 }
        var version: String { member("ssl_protocol") }
        var isResumed: Bool { member("ssl_session_reused") == "r" }
        var serverName: String { member("ssl_server_name") }
        /// SUCCESS, NONE, or FAILED with the reason.
        var clientVerification: String { member("ssl_client_verify") }
        var clientSubject: String { member("ssl_client_s_dn") }
    }

    let folder: String
    private let child: Subprocess

    /// - Parameter servers: each on a free port.
    init(_ servers: [NginxConfiguration.Server]) throws {
        folder = Scratch.folder("nginx")
        let configuration = NginxConfiguration(folder: folder, servers: servers)
        try configuration.write()
        child = try Subprocess("nginx", ["-e", "stderr", "-p", folder, "-c", configuration.path], directory: folder)
        guard let port = servers.last?.port else { return }
        do {
            try Socket.awaitListener(on: port, of: child)
        } catch {
            throw Spawn.Failure(description: "\(error)\n\(Scratch.read(folder + "/error.log"))")
        }
    }

    var errorLog: String { Scratch.read(folder + "/error.log") }

    /// Entries whose target contains the mark, oldest first; waits until there are so many.
    func entries(marked mark: String, atLeast count: Int = 1) -> [Entry] {
        var found: [Entry] = []
        _ = Wait.until {
            found = Scratch.read(folder + "/access.log").split(separator: "\n").compactMap(Entry.init)
                .filter { $0.target.contains(mark) }
            return found.count >= count
        }
        return found
    }
}
