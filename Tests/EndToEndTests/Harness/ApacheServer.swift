import Foundation
import TestSupport

/// A real Apache httpd as origin, one per run, started when first asked for. Everything a request left in its log can be
/// found by a mark in the request's target.
struct ApacheServer: Sendable {
    /// A line of the access log.
    struct Entry {
        let connection: String
        let method: String
        let target: String
        let status: Int
        let user: String
        /// Head and content, as counted by mod_logio.
        let bytesReceived: Int
        let authorization: String?
        let via: String?
        let userAgent: String?
    }

    private static let started = Result { try ApacheServer() }

    static let secureHost = "apache.example.test"

    static func shared() throws -> ApacheServer { try started.get() }

    let port: UInt16
    /// TLS 1.2 alone, and TLS 1.3 alone, for the host `secureHost`.
    let securePorts: (two: UInt16, three: UInt16)
    let folder: String
    private let child: Subprocess

    private init() throws {
        folder = Scratch.folder("apache")
        port = FreePort.take()
        securePorts = (FreePort.take(), FreePort.take())
        let identity = try ServerIdentity(Hierarchy.shared().issuing.issue(CertificateTerms(host: Self.secureHost)))
        let configuration = ApacheConfiguration(
            folder: folder, port: port, securePorts: securePorts, identity: identity)
        try configuration.write()
        child = try Subprocess("apache2", ["-f", configuration.path, "-DFOREGROUND"], directory: folder)
        do {
            try Socket.awaitListener(on: port, of: child)
        } catch {
            throw Spawn.Failure(description: "\(error)\n\(Scratch.read(folder + "/error.log"))")
        }
    }

    var documents: String { folder + "/www" }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Entries whose target contains the mark, oldest first. Apache writes an entry after the response is sent:
    /// waits until there are so many.
    func entries(marked mark: String, atLeast count: Int = 1) -> [Entry] {
        var found: [Entry] = []
        _ = Wait.until {
            found = ApacheLog.lines(in: folder).compactMap(Self.entry)
                .filter { $0.target.contains(mark) }
            return found.count >= count
        }
        return found
    }

    /// Waits until Apache calls the nonce of the last Digest answer stale, which nothing but its own clock brings about.
    /// - Parameter mark: in the target that was answered.
    func awaitStaleness(of target: String, markedBy mark: String) throws -> Bool {
        let answers = entries(marked: mark).compactMap(\.authorization)
        return try Wait.until {
            let fetched = try Curl.fetch(url(target), ["-H", "Authorization: \(answers.last ?? "")"])
            return fetched.status == 401 && fetched["WWW-Authenticate"]?.contains("stale=true") == true
        }
    }

    private static func entry(_ line: Substring) -> Entry? {
        let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 9, let status = Int(parts[3]) else { return nil }
        let optional = { (text: String) in text == "-" ? nil : text.replacing("\\\"", with: "\"") }
        return Entry(
            connection: parts[0], method: parts[1], target: parts[2], status: status, user: parts[4],
            bytesReceived: Int(parts[5]) ?? 0, authorization: optional(parts[6]), via: optional(parts[7]),
            userAgent: optional(parts[8]))
    }
}

extension ApacheServer {
    /// A text that occurs in no other test's targets.
    static func mark() -> String { "mark" + UUID().uuidString.prefix(13).lowercased() }
}
