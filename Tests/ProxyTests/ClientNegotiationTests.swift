import Bytes
import IO
import Model
import Rules
import Testing

@testable import Proxy

@Suite struct ClientNegotiationTests {
    @Test(
        arguments: [
            (.seconds(10), 1_000, "alice@R"), (.seconds(10), 10_999, "alice@R"), (.seconds(10), 11_000, nil),
            (0, 1_000, nil),
            (nil, .max, "alice@R"),
        ]
            as [(Milliseconds?, Milliseconds, String?)])
    func `a login holds as long as its ticket`(lifetime: Milliseconds?, now: Milliseconds, user: String?) throws {
        let rules = try authentication("*@R")
        let login = ClientLogin.Negotiation.established(
            user: "alice@R", for: lifetime, at: .zero + 1_000, admittedBy: rules)
        #expect(login.user(at: .zero + now, by: rules) == user)
    }

    @Test func `new rules are asked for the principal of a connection`() throws {
        let login = ClientLogin.Negotiation.established(
            user: "alice@R", for: nil, at: .zero, admittedBy: try authentication("alice@R"))
        #expect(login.user(at: .zero + 1, by: try authentication("*@R")) == "alice@R")
        #expect(login.user(at: .zero + 1, by: try authentication("bob@R")) == nil)
    }

    @Test func `new rules are asked for the principal of a tunnel, and for no other user`() throws {
        let (before, after) = (try authentication("alice@R"), try authentication("bob@R"))
        var principal = ClientLogin.Admission("alice@R", isPrincipal: true, by: before)
        var user = ClientLogin.Admission("alice@R", isPrincipal: false, by: before)
        for (rules, admitsPrincipal) in [(before, true), (after, false), (before, true), (after, false)] {
            let (isPrincipalAdmitted, isUserAdmitted) = (principal.holds(by: rules), user.holds(by: rules))
            #expect(isPrincipalAdmitted == admitsPrincipal)
            #expect(isUserAdmitted)
        }
    }

    private func authentication(_ principal: String) throws -> ClientAuthentication {
        var clients = Configuration.Clients()
        clients.methods = [.negotiate]
        clients.principals = [try #require(PrincipalPattern(principal))]
        let accounts = try ClientAccounts(clients, nonceKey: nil)
        return try #require(ClientAuthentication(clients, accounts: accounts))
    }
}
