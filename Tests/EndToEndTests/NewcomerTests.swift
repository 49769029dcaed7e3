import Foundation
import TestSupport
import Testing

/// The mistakes that newcomers make in silence: each names its reason in the response, in the log and in `attache challenges`,
/// and the lines that are printed there make the request pass.
struct NewcomerTests {
    private static let password = "p4ssword-Of.A~Newcomer"

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var rules = "challenge \"ci\" { host 127.0.0.1; use ci }"
        var challenge = #"Basic realm="jenkins""#
        var options: [String] = []
        /// The host of the request.
        var host = "127.0.0.1"
        /// The reason in `Proxy-Status`, in the log and in the table.
        let reason: String
        /// The line to paste, without the warning behind it; nil where none helps. The user fills `…` in, where no rule means a
        /// credential for the server.
        var suggestion: String? = #"challenge "127.0.0.1" { host 127.0.0.1; port PORT; realm "jenkins"; use … }"#
    }

    static let cases = [
        Case(
            testDescription: "a wrong host", rules: #"challenge "ci" { host *.localhost; use ci }"#, host: "localhost",
            reason: #"rule "ci" is for host *.localhost; the request is for localhost"#,
            suggestion: #"challenge "localhost" { host localhost; port PORT; realm "jenkins"; use … }"#),
        Case(
            testDescription: "an unknown realm", rules: #"challenge "ci" { host 127.0.0.1; realm "Hudson"; use ci }"#,
            reason: #"rule "ci" is for realm "Hudson"; the origin sends "jenkins""#),
        Case(
            testDescription: "a realm in the wrong case",
            rules: #"challenge "ci" { host 127.0.0.1; realm "Jenkins"; use ci }"#,
            reason: #"rule "ci" is for realm "Jenkins"; the origin sends "jenkins""#),
        Case(
            testDescription: "'secure yes' over http", rules: #"challenge "ci" { host 127.0.0.1; secure yes; use ci }"#,
            reason: #"rule "ci" says 'secure yes'; basic over http would send the credential unencrypted"#,
            suggestion: nil),
        Case(
            testDescription: "'reject' first",
            rules: """
                challenge "no clear" { method basic; secure no; reject }
                challenge "ci" { host 127.0.0.1; use ci }
                """,
            reason: #"rule "no clear" rejects the challenge before rule "ci" is tried"#,
            suggestion: #"challenge "127.0.0.1" { host 127.0.0.1; port PORT; realm "jenkins"; use ci }"#),
        Case(
            testDescription: "an Authorization of the client's own", options: ["-H", "Authorization: Basic bm8="],
            reason: "the request has its own Authorization, which is kept",
            suggestion:
                #"challenge "127.0.0.1" { host 127.0.0.1; port PORT; realm "jenkins"; authorization replace; use ci }"#),
        Case(
            testDescription: "an unknown scheme", challenge: #"Hawk id="x""#,
            reason: "the origin asks for hawk, which this proxy does not know", suggestion: nil),
    ]

    @Test(arguments: cases) func `a silent mistake is told, with the lines that mend it`(_ mistake: Case) throws {
        let right = "Basic " + Data("builder:\(Self.password)".utf8).base64EncodedString()
        let origin = try RecordingOrigin.answering { request, connection in
            if request["Authorization"] == right { return try connection.reply(body: "ok") }
            try connection.reply("401 Unauthorized", ["WWW-Authenticate: \(mistake.challenge)"])
        }
        let setting = AttacheProcess.Setting(files: ["password": Self.password + "\n"])
        let credential = "credential ci { user builder; password file @/password }\n"
        try AttacheProcess.running(credential + mistake.rules, setting: setting) { proxy throws in
            let fetch = { () throws -> Fetched in
                try Curl.fetch("http://\(mistake.host):\(origin.port)/", ["-x", proxy.address] + mistake.options)
            }
            let fetched = try fetch()
            #expect(fetched.status == 401)
            let said = fetched["Proxy-Status"]?.replacing("\\\"", with: "\"") ?? ""
            #expect(said.contains(mistake.reason), "\(fetched)")
            let details = try proxy.records().compactMap { $0["details"] }
            #expect(details.contains { $0.contains(mistake.reason) }, "\(proxy.accessLog)")
            let table = try Finished.run(
                AttacheBinary.path, ["challenges", "--unanswered", "--config", "proxy.conf"], directory: proxy.folder,
                seconds: 20)
            #expect(table.succeeded && table.output.contains(mistake.reason), "\(table)")
            let lines = table.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            let pasted = lines.first { $0.hasPrefix("challenge \"\(mistake.host)\" {") }
            #expect(
                pasted?.components(separatedBy: "  # ").first
                    == mistake.suggestion?.replacing("PORT", with: "\(origin.port)"), "\(table)")
            guard let pasted else { return }
            #expect(proxy.errorOutput.contains("to answer it, add: "), "\(proxy.errorOutput)")
            // The first rule that matches decides.
            try proxy.reload(credential + pasted.replacing("…", with: "ci") + "\n" + mistake.rules)
            #expect(try Wait.until { try fetch().status == 200 })
        }
    }
}
