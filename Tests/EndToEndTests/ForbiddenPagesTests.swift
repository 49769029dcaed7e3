import TestSupport
import Testing

/// One client asks for many forbidden pages, each answered with a `401`, as fast as it can. Ten others work on.
@Suite(.serialized) struct ForbiddenPagesTests {
    @Test(arguments: zip(DAVServer.Login.all, [1000, 250, 250]))
    func `a thousand forbidden pages of one client, and none of the ten others is refused`(
        login: DAVServer.Login, pages: Int
    ) throws {
        try DAVServer.reached(by: login) { proxy, url throws in
            #expect(try proxy.get(url("0.txt")).status == 200)
            let clients = Clients(10, through: [proxy]) { url("\(($0 + $1) % DAVServer.files).txt?\($0)-\($1)") }
            #expect(Wait.until { clients.statuses[200] ?? 0 > 50 })
            let begin = ContinuousClock.now
            let forbidden = Clients(1, through: [proxy], requests: pages, pause: 0) { url("private/\($1).txt") }
            #expect(forbidden.finish() == [401: pages])
            let time = ContinuousClock.now - begin
            let statuses = clients.stop()
            #expect(Set(statuses.keys) == [200], "\(statuses)")
            let words = "\(pages) forbidden pages, \(login.testDescription), took \(time)"
            print("\(words); the slowest of \(statuses[200] ?? 0) requests beside them took \(clients.slowest)")
        }
    }
}
