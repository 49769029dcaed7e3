import Foundation
import Testing

/// A refused password is not tried again: accounts are locked out by proxies that insist.
struct ParkingTests {
    private func expectParked(_ name: String) throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        let setting = AttacheProcess.Setting(files: ["password": Account.wrongPassword + "\n"])
        try AttacheProcess.answering(apache.port, setting: setting) { proxy throws in
            for _ in 1...10 { #expect(try proxy.get(apache.url("/\(name)/?\(mark)")).status == 401) }
            #expect(try proxy.records(atLeast: 10).count == 10)
            let tried = apache.entries(marked: mark, atLeast: 11).filter { $0.authorization != nil }
            #expect(tried.count == 1, "the wrong password was sent \(tried.count) times")

            try proxy.replace("password", with: Account.password + "\n")
            let url = apache.url("/\(name)/?\(mark)-changed")
            let isUnparked = try Wait.until { try proxy.get(url).status == 200 }
            #expect(isUnparked, "the changed file did not un-park the credential")
        }
    }

    @Test func `a wrong Basic password is sent once, until the file changes`() throws { try expectParked("basic") }

    @Test func `a wrong Digest password is sent once, until the file changes`() throws { try expectParked("steady") }

    @Test func `a wrong password among a hundred requests at once is sent once`() throws {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        let setting = AttacheProcess.Setting(files: ["password": Account.wrongPassword + "\n"])
        try AttacheProcess.answering(apache.port, setting: setting) { proxy throws in
            let run = try Parallel.fetch(100, apache.url("/steady/?\(mark)"), through: proxy)
            #expect(run.filter { $0 == 401 }.count == 100)
            let tried = apache.entries(marked: mark, atLeast: 101).filter { $0.authorization != nil }
            #expect(tried.count == 1, "the wrong password was sent \(tried.count) times")
        }
    }

    @Test func `a changed password is used, although the old one was accepted`() throws {
        let accepted = Data("\(Account.user):second".utf8).base64EncodedString()
        let origin = try RecordingOrigin.answering { request, connection in
            let first = Data("\(Account.user):first".utf8).base64EncodedString()
            let known = connection.number < 3 ? first : accepted
            let isRight = request["Authorization"] == "Basic \(known)"
            let challenge = isRight ? [] : ["WWW-Authenticate: Basic realm=\"r\""]
            try connection.reply(isRight ? "200 OK" : "401 Unauthorized", challenge + ["Connection: close"])
        }
        try AttacheProcess.answering(origin.port, setting: .init(files: ["password": "first"])) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 200)
            try proxy.replace("password", with: "second")
            let isAccepted = try Wait.until { try proxy.get(origin.url()).status == 200 }
            #expect(isAccepted)
        }
    }

    @Test func `a server in trouble has not accepted the password`() throws {
        let origin = try RecordingOrigin.answering { request, connection in
            let isFirst = connection.number < 3
            if isFirst, request["Authorization"] != nil {
                try connection.reply("503 Service Unavailable", ["Connection: close"])
            } else {
                try connection.reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\"", "Connection: close"])
            }
        }
        try AttacheProcess.answering(origin.port) { proxy throws in
            #expect(try proxy.get(origin.url()).status == 503)
            for _ in 1...4 { #expect(try proxy.get(origin.url()).status == 401) }
            let sent = origin.messages.filter { $0["Authorization"] != nil }.count
            #expect(sent == 2, "once with the 503, once until it is parked; it was sent \(sent) times")
        }
    }

    @Test func `a refusal that names a new realm, or none, parks as well`() throws {
        for isBare in [true, false] {
            let origin = try RecordingOrigin.answering { request, connection in
                let isNamed = request["Authorization"] == nil || !isBare
                let challenge = isNamed ? ["WWW-Authenticate: Basic realm=\"r\(connection.number)\""] : []
                try connection.reply("401 Unauthorized", challenge + ["Connection: close"])
            }
            try AttacheProcess.answering(origin.port) { proxy throws in
                #expect(try proxy.get(origin.url()).status == 401)
                let sent = origin.messages.filter { $0["Authorization"] != nil }.count
                #expect(sent == 1, "the wrong password was sent \(sent) times")
            }
        }
    }

    @Test func `a realm may go over to another Digest algorithm`() throws {
        let origin = try RecordingOrigin.answering { request, connection in
            let algorithm = connection.number < 3 ? "MD5" : "SHA-256"
            let isRight = request["Authorization"]?.contains("algorithm=\(algorithm)") ?? false
            let challenge = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=\(algorithm)"
            try connection.reply(isRight ? "200 OK" : "401 Unauthorized", [challenge, "Connection: close"])
        }
        try AttacheProcess.answering(origin.port) { proxy throws in
            for _ in 1...3 { #expect(try proxy.get(origin.url()).status == 200) }
        }
    }
}
