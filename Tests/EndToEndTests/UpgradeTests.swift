import Foundation
import Testing

/// The setting `upgrade`: the client speaks http, the origin https, and neither notices.
struct UpgradeTests {
    @Test func `the origin's references to itself are turned back`() throws {
        let good = try Specimen["good"]
        try AttacheProcess.visitingZoo { proxy throws in
            let answered = try proxy.visit(good, "/links", by: .upgraded)
            let origin = try Zoo.shared().url(good, "/there", scheme: "http")
            #expect(answered.status == 302)
            #expect(answered["Location"] == origin)
            #expect(answered["Content-Location"] == origin)
            #expect(answered["Refresh"] == "5; url=\(origin)")
            let cookies = answered.message.values("Set-Cookie")
            #expect(cookies.count == 2)
            #expect(cookies.allSatisfy { !$0.lowercased().contains("secure") }, "\(cookies)")
            #expect(cookies.first?.contains("HttpOnly") == true)
            #expect(answered["Strict-Transport-Security"] == nil)
        }
    }

    @Test(arguments: [Entrance.clear, .intercepted])
    func `a response to an https request is not touched`(entrance: Entrance) throws {
        let good = try Specimen["good"]
        try AttacheProcess.visitingZoo { proxy throws in
            let answered = try proxy.visit(good, "/links", by: entrance)
            #expect(answered["Location"] == (try Zoo.shared().url(good, "/there")))
            #expect(answered.message.values("Set-Cookie").allSatisfy { $0.lowercased().contains("secure") })
            #expect(answered["Strict-Transport-Security"] != nil)
        }
    }

    @Test func `another origin is not touched`() throws {
        try AttacheProcess.visitingZoo { proxy throws in
            let answered = try proxy.visit(Specimen["good"], "/away", by: .upgraded)
            #expect(answered["Location"] == "https://elsewhere.example.test/there")
        }
    }

    @Test func `a redirection to https leads back through the proxy`() throws {
        try AttacheProcess.visitingZoo { proxy throws in
            let answered = try proxy.visit(Specimen["good"], "/links", by: .upgraded, "--location", "--max-redirs", "2")
            #expect(answered.status == 200, "\(answered)")
            #expect(answered.text == "this is good\n")
        }
    }

    @Test func `the origin sees the name that the client used`() throws {
        let good = try Specimen["good"]
        try AttacheProcess.visitingZoo { proxy throws in
            let answered = try proxy.visit(good, "/echo?a=b", by: .upgraded)
            #expect(answered.text == "GET \(try Zoo.shared().authority(of: good)) /echo?a=b\n")
        }
    }

    @Test func `a route can name the port`() throws {
        let good = try Specimen["good"]
        let route = "route \(good.host) { upgrade \(try Zoo.shared().port(of: good)) }"
        try AttacheProcess.visitingZoo(route) { proxy throws in
            let answered = try proxy.get("http://\(good.host)/links")
            #expect(answered.status == 302, "\(answered)")
            #expect(try proxy.get("http://\(good.host)/").text == "this is good\n")
        }
    }

    @Test func `busybox wget asks for https in clear and gets it`() throws {
        let good = try Specimen["good"]
        try AttacheProcess.visitingZoo { proxy throws in
            let run = try Finished.run(
                "busybox", ["wget", "-q", "-O", "-", Zoo.shared().url(good)],
                environment: ["https_proxy": proxy.address, "http_proxy": proxy.address])
            #expect(run.output == "this is good\n", "\(run)")
        }
    }

    @Test func `a host without the word stays http`() throws {
        let origin = try RecordingOrigin.answering()
        try AttacheProcess.visitingZoo { proxy throws in
            #expect(try proxy.get("http://localhost:\(origin.port)/").text == "ok")
        }
    }
}
