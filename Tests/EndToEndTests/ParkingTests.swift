import Foundation
import TestSupport
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

    @Test func `a password file that is touched has the password tried again, though no request asks meanwhile`() throws
    {
        let apache = try ApacheServer.shared()
        let mark = ApacheServer.mark()
        let setting = AttacheProcess.Setting(files: ["password": Account.wrongPassword + "\n"])
        try AttacheProcess.answering(apache.port, setting: setting) { proxy throws in
            let url = apache.url("/basic/?\(mark)")
            for _ in 1...2 { #expect(try proxy.get(url).status == 401) }
            // A reload of the rule file does not lift the parking.
            proxy.signal(SIGHUP)
            #expect(proxy.awaitErrorOutput("the rule file was reloaded"))
            #expect(try proxy.get(url).status == 401)
            let tried = { (count: Int) in
                apache.entries(marked: mark, atLeast: count).count { $0.authorization != nil }
            }
            #expect(tried(4) == 1)
            utimes(proxy.folder + "/password", nil)
            let isLifted = try Wait.until {
                try proxy.events().contains { $0["event"] == "credential.lifted" && $0["by"] == "file" }
            }
            #expect(isLifted, "\(proxy.accessLog)")
            #expect(try proxy.get(url).status == 401)
            #expect(tried(6) == 2)
        }
    }

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
}
