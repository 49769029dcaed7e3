import TestSupport
import Testing

/// Apache refuses a user who may read but not write with a `401`, as it does a wrong password. The readers notice nothing.
@Suite(.serialized) struct WebDAVRefusalTests {
    /// Writes a page, as this user may not.
    private func expectRefused(_ method: String, _ url: String, _ proxy: AttacheProcess) throws {
        let content = method == "PUT" ? ["-d", "another text"] : []
        let fetched = try Curl.fetch(url, ["-x", proxy.address, "-X", method] + content)
        #expect(fetched.status == 401, "\(fetched)")
    }

    /// Reads pages, each as another client.
    private func expectRead(_ numbers: ClosedRange<Int>, _ url: (String) -> String, _ proxy: AttacheProcess) throws {
        let fetched = try numbers.map { try proxy.get(url("\($0).txt")) }
        #expect(fetched.map(\.status) == numbers.map { _ in 200 }, "\(proxy.errorOutput)")
        #expect(fetched.map(\.text) == numbers.map { "page \($0)\n" })
    }

    @Test(arguments: DAVServer.Login.all)
    func `a page that was read may not be written, and then others read it`(login: DAVServer.Login) throws {
        try DAVServer.reached(by: login) { proxy, url throws in
            try expectRead(0...0, url, proxy)
            for method in ["PUT", "DELETE", "MKCOL"] {
                for _ in 1...3 { try expectRefused(method, url(method == "MKCOL" ? "new/" : "0.txt"), proxy) }
                try expectRead(0...2, url, proxy)
            }
        }
    }

    @Test(arguments: DAVServer.Login.all)
    func `a page that may not be written is the first request, and then others read`(login: DAVServer.Login) throws {
        try DAVServer.reached(by: login) { proxy, url throws in
            try expectRefused("PUT", url("0.txt"), proxy)
            try expectRead(1...3, url, proxy)
            try expectRefused("DELETE", url("1.txt"), proxy)
            try expectRead(0...3, url, proxy)
        }
    }

    @Test(arguments: DAVServer.Login.all)
    func `a forbidden page is the first request, and then others read`(login: DAVServer.Login) throws {
        try DAVServer.reached(by: login) { proxy, url throws in
            for _ in 1...3 { #expect(try proxy.get(url("private/first.txt")).status == 401) }
            try expectRead(0...3, url, proxy)
            for number in 1...3 { #expect(try proxy.get(url("private/\(number).txt")).status == 401) }
            try expectRead(4...7, url, proxy)
        }
    }

    @Test(arguments: DAVServer.Login.all)
    func `twenty writes are refused while ten clients read, and none of the ten is`(login: DAVServer.Login) throws {
        try DAVServer.reached(by: login) { proxy, url throws in
            try expectRead(0...0, url, proxy)
            let clients = Clients(10, through: [proxy]) { url("\(($0 + $1) % DAVServer.files).txt?\($0)-\($1)") }
            #expect(Wait.until { clients.statuses[200] ?? 0 > 50 })
            for number in 1...20 { try expectRefused("PUT", url("\(number).txt"), proxy) }
            let before = clients.statuses[200] ?? 0
            #expect(Wait.until { clients.statuses[200] ?? 0 > before + 50 }, "\(clients.statuses)")
            let statuses = clients.stop()
            #expect(Set(statuses.keys) == [200], "\(statuses)")
            print("mod_dav, \(login.testDescription): the slowest of \(statuses[200] ?? 0) took \(clients.slowest)")
        }
    }
}
