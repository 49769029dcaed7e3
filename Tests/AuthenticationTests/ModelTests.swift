import Crypto
import Model
import Testing

@testable import Authentication

@Suite struct ModelTests {
    @Test func `a version depends on user and password, and shows neither`() {
        let credential = Credential(name: "ci", user: "u", password: Secret("p"))
        #expect(credential.version == Credential(name: "ci", user: "u", password: Secret("p")).version)
        #expect(credential.version != Credential(name: "ci", user: "u", password: Secret("q")).version)
        #expect(credential.version != Credential(name: "ci", user: "v", password: Secret("p")).version)
        #expect(credential.version != Credential(name: "cd", user: "u", password: Secret("p")).version)
        let shifted = Credential(name: "ci", user: "up", password: Secret("")).version
        #expect(shifted != credential.version)
        let secret = Credential(name: "ci", user: "user", password: Secret("hunter2"))
        #expect("\(secret)" == "credential ci")
    }

    @Test(arguments: [
        (NetworkProtocol.http, AuthenticationMethod.basic, false), (.https, .basic, true), (.http, .digest, true),
        (.http, .bearer, false), (.http, .negotiate, true), (.socks, .basic, false), (.http, .htmlForm, false),
    ])
    func `a space receives a credential securely when nobody on the way can read it`(
        kind: NetworkProtocol, method: AuthenticationMethod, securely: Bool
    ) {
        let space = ProtectionSpace(
            origin: Origin(host: "h", port: 1, protocol: kind), realm: nil, authenticationMethod: method)
        #expect(space.receivesCredentialSecurely == securely)
    }
}
