import Foundation
import Testing

extension AttacheProcess {
    /// Sets the account's password for the origin's space by the command line.
    func set(_ password: String, for origin: RecordingOrigin, method: String = "basic") throws {
        try set(password, for: origin.url(), method: method)
    }

    func set(_ password: String, for url: String, method: String = "basic") throws {
        let run = try attempt(toSet: password, for: url, method: method)
        #expect(run.succeeded, "\(run)")
    }

    func attempt(toSet password: String, for url: String, method: String = "basic") throws -> Finished {
        try Scratch.write(password + "\n", to: folder + "/typed", mode: 0o600)
        defer { unlink(folder + "/typed") }
        let realm = method == "ntlm" ? [] : ["--realm", "r"]
        return try Finished.run(
            AttacheBinary.path,
            ["credential", "set", url, Account.user, "--method", method, "--config", "proxy.conf"] + realm,
            directory: folder, input: folder + "/typed", seconds: 20)
    }

    /// The text of `/readyz`.
    var readiness: String { (try? Curl.fetch("http://127.0.0.1:\(adminPort)/readyz"))?.text ?? "" }
}
