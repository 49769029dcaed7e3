import Authentication
import Bytes
import Crypto
import Model
import Testing

@testable import Credentials

/// The content of a view after any changes.
@Suite struct CredentialViewTests {
    private let key: SealingKey
    private let space = ProtectionSpace(
        origin: Origin(host: "host", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic)

    init() throws { key = try StoreFile.key(1) }

    private func sealed(_ password: String, of user: String, for space: ProtectionSpace) throws -> [UInt8] {
        let credential = Credential(name: user, user: user, password: Secret(password), persistence: .permanent)
        return try #require(try StoredCredential(credential, for: space, isDefault: false, sealedWith: key)).sealed
    }

    private func credential(_ user: String, in view: inout CredentialView) -> String? {
        password(view.credential(of: user, for: space))
    }

    private func defaultPassword(in view: inout CredentialView) -> String? {
        password(view.defaultCredential(for: space))
    }

    private func put(_ box: [UInt8], isDefault: Bool?, in view: inout CredentialView) -> StoredCredentials.Change.Kind?
    {
        view.put(box, of: "u", for: space, isDefault: isDefault)?.kind
    }

    private func password(_ opening: CredentialView.Opening?) -> String? {
        guard case .credential(let credential) = opening else { return nil }
        return credential.password?.withBytes { $0.text }
    }

    @Test func `more credentials than are kept opened are all found, again and again`() throws {
        var view = CredentialView(dataKey: key, keepingOpen: 4)
        for number in 0..<40 {
            let user = "user \(number)"
            _ = view.put(try sealed("p\(number)", of: user, for: space), of: user, for: space, isDefault: number == 7)
        }
        for _ in 1...3 {
            let found = (0..<40).map { credential("user \($0)", in: &view) }
            #expect(found == (0..<40).map { "p\($0)" })
        }
        var defaults = [defaultPassword(in: &view)]
        _ = view.put(try sealed("new", of: "user 7", for: space), of: "user 7", for: space, isDefault: nil)
        defaults.append(defaultPassword(in: &view))
        _ = view.remove(user: "user 7", for: space)
        defaults.append(defaultPassword(in: &view))
        #expect(defaults == ["p7", "new", nil])
        #expect(view.users(for: space).count == 39)
    }

    @Test func `an origin is served for as long as one of its spaces has a credential`() throws {
        var view = CredentialView(dataKey: key)
        let other = ProtectionSpace(origin: space.origin, realm: nil, authenticationMethod: .ntlm)
        for space in [space, other] {
            _ = view.put(try sealed("p", of: "u", for: space), of: "u", for: space, isDefault: true)
        }
        #expect(!view.serves(Origin(host: "host", port: 80, protocol: .https)))
        var served = [view.serves(space.origin)]
        for space in [space, other, other] {
            _ = view.remove(user: "u", for: space)
            served.append(view.serves(space.origin))
        }
        #expect(served == [true, true, false, false])
        #expect(view.count == 0)
    }

    @Test func `a credential that is put again is a change only if its box is another one`() throws {
        var view = CredentialView(dataKey: key)
        let box = try sealed("p", of: "u", for: space)
        let isDefault: [Bool?] = [false, false, true, false]
        let kinds = isDefault.map { put(box, isDefault: $0, in: &view) }
        #expect(kinds == [.set, nil, .madeDefault, nil])
        #expect(view.defaultUser(for: space) == nil)
        let version = view.version(of: "u", for: space)
        let kind = put(try sealed("p", of: "u", for: space), isDefault: nil, in: &view)
        #expect(kind == .set)
        #expect(view.version(of: "u", for: space) != version)
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `a table finds what is in it, and nothing that was taken out`(seed: UInt64) {
        var random = SeededGenerator(seed)
        var table = SlotTable()
        var present: [Int: UInt64] = [:]
        for _ in 0..<5_000 {
            let slot = Int.random(in: 0..<400, using: &random)
            // Many share a hash, and many more a place.
            let hash = UInt64(slot % 50) << 20 | UInt64(slot % 7)
            if present.removeValue(forKey: slot) != nil {
                table.remove(slot, hash)
            } else {
                table.insert(slot, hash)
                present[slot] = hash
            }
            let probe = Int.random(in: 0..<400, using: &random)
            let found = table.first(UInt64(probe % 50) << 20 | UInt64(probe % 7)) { $0 == probe }
            #expect((found != nil) == (present[probe] != nil))
        }
    }
}
