import Bytes
import Model
import Rules
import Testing

/// Rules about parents, forms, tickets and tokens, compiled.
@Suite struct WholeGrammarTests {
    private func decide(_ rules: RuleSet, _ host: String, _ method: AuthenticationMethod) -> RuleDecision {
        var query = ChallengeQuery(
            host: host, port: 443, protocol: .https, method: method,
            client: ClientIdentity(address: IPAddress(v4: 0x7F00_0001)))
        query.isSecure = true
        return rules.decide(query)
    }

    @Test func `a rule answers the methods that its credential can`() throws {
        let rules = try rules(
            """
            credential svc { kerberos svc; keytab k }
            credential api { token t }
            credential s3  { aws eu-central-1 s3; access-key a; secret-key b }
            credential bob { user bob; password b }
            challenge { host svc.example; use svc; spn HTTP/x; delegate yes }
            challenge { host api.example; secure yes; use api }
            challenge { host s3.example; use s3 }
            challenge { host bob.example; secure yes; use bob; form { recognise contains x; login /; fields p={password} } }
            challenge { host bob.example; secure yes; use bob }
            challenge { host kept.example; method negotiate; default; spn HTTP/y }
            """)
        for method in AuthenticationMethod.allCases {
            #expect((decide(rules, "svc.example", method).action == .use(["svc"])) == (method == .negotiate))
            #expect((decide(rules, "api.example", method).action == .use(["api"])) == (method == .bearer))
            #expect((decide(rules, "s3.example", method).action == .use(["s3"])) == (method == .default))
        }
        let ticket = try #require(decide(rules, "svc.example", .negotiate).terms)
        #expect(ticket.servicePrincipal == "HTTP/x" && ticket.delegates && !ticket.canonicalises)
        #expect(decide(rules, "kept.example", .negotiate).terms?.servicePrincipal == "HTTP/y")
        #expect(decide(rules, "kept.example", .basic).rule == nil)
        let form = try #require(decide(rules, "bob.example", .htmlForm).terms?.form)
        #expect(form.login.fields.map(\.name) == ["p"] && form.login.fields[0].value == [.password])
        #expect(decide(rules, "bob.example", .basic).terms == nil)
        #expect(decide(rules, "bob.example", .basic).action == .use(["bob"]))
    }

    @Test func `of several credentials those answer a method that can, in the order of their names`() throws {
        let rules = try rules(
            """
            credential svc { kerberos svc; keytab k }
            credential old { user u; password p }
            credential new { user u; password q }
            credential tls { certificate c; key k }
            challenge { host a.example; secure yes; use new old }
            challenge { host b.example; secure yes; use new svc old; attempts 2 }
            challenge { host c.example; secure yes; method negotiate basic; use svc new }
            challenge {
                host d.example; secure yes; method html-form client-certificate; use new tls
                form { recognise contains x; login /; fields p={password} }
            }
            """)
        for method in [AuthenticationMethod.basic, .digest, .ntlm] {
            #expect(decide(rules, "a.example", method).action == .use(["new", "old"]))
            #expect(decide(rules, "b.example", method).action == .use(["new", "old"]))
        }
        #expect(decide(rules, "a.example", .basic).attempts == 1 && decide(rules, "b.example", .basic).attempts == 2)
        #expect(decide(rules, "a.example", .negotiate).rule == nil)
        #expect(decide(rules, "b.example", .negotiate).action == .use(["svc"]))
        #expect(decide(rules, "c.example", .negotiate).action == .use(["svc", "new"]))
        #expect(decide(rules, "c.example", .basic).action == .use(["new"]))
        #expect(decide(rules, "d.example", .htmlForm).action == .use(["new"]))
        #expect(decide(rules, "d.example", .clientCertificate).action == .use(["tls"]))
    }

    @Test func `a refused credential is tried again after the times that its rule says`() throws {
        let rules = try rules(
            """
            credential bob { user bob; password b }
            challenge { host a.example; secure yes; use bob; retry 1s 1500ms 24h }
            challenge { host b.example; secure yes; use bob; retry never }
            challenge { host c.example; secure yes; use bob }
            """)
        #expect(decide(rules, "a.example", .basic).retry == [1000, 1500, 86_400_000])
        #expect(decide(rules, "b.example", .basic).retry == [])
        for host in ["c.example", "d.example"] {
            #expect(decide(rules, host, .basic).retry == [30_000, 300_000, 1_800_000])
        }
    }

    @Test func `the proxy asks by the request that the rule names, or not at all`() throws {
        let rules = try rules(
            """
            credential bob { user bob; password b }
            challenge { host a.example; secure yes; use bob; probe /a?b }
            challenge { host b.example; secure yes; use bob; probe no }
            challenge { host c.example; secure yes; use bob }
            """)
        let probes = ["a.example", "b.example", "c.example", "d.example"].map { decide(rules, $0, .basic).probe }
        #expect(probes == [.path("/a?b"), .no, .sample, .sample])
    }

    @Test func `a rule for schemes that are not known is for them alone`() throws {
        let rules = try rules(
            """
            credential s3 { aws eu-central-1 s3; access-key a; secret-key b }
            challenge { host a.example; method other; cancel }
            challenge { host a.example b.example; use s3 }
            challenge { host b.example; cancel }
            """)
        #expect(decide(rules, "a.example", .other).action == .cancel)
        #expect(decide(rules, "a.example", .default).action == .use(["s3"]))
        #expect(decide(rules, "a.example", .basic).rule == nil)
        #expect(decide(rules, "b.example", .other).action == .cancel)
        #expect(decide(rules, "b.example", .default).action == .use(["s3"]))
    }

    @Test func `a route goes through its parents, but not for their exceptions`() throws {
        let rules = try rules(
            """
            route a.example { via one two direct }
            parent one { http one.example:8080; except 10.0.0.0/8 *.local }
            parent two { socks5 two.example:1080 }
            """)
        let parentList = try #require(rules.route(host: Array("a.example".utf8).span, port: 80).parentList)
        #expect(parentList.hops.count == 3 && parentList.hops.last == .direct)
        guard case .parent(let parent) = parentList.hops[0] else {
            Issue.record("\(parentList.hops)")
            return
        }
        #expect(parent.servers.map(\.address.description) == ["one.example:8080"])
        for (host, isExcepted) in [("10.1.2.3", true), ("X.local", true), ("local", false), ("a.example", false)] {
            let bytes = Array(host.utf8)
            let actual = parent.excepts(bytes.span)
            #expect(actual == isExcepted)
        }
        #expect(rules.route(host: Array("b.example".utf8).span, port: 80).parentList == nil)
    }
}
