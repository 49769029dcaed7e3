import Crypto
import Testing

@Suite struct PasswordHashTests {
    /// SHA-crypt: the specification's own examples. bcrypt: Openwall's crypt_blowfish test vectors.
    @Test(arguments: [
        ("Hello world!", "$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"),
        (
            "Hello world!",
            "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1"
        ),
        ("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
    ])
    func `published hashes verify`(password: String, hash: String) {
        #expect(PasswordHash.verify(Secret(password), against: hash))
        #expect(!PasswordHash.verify(Secret(password + "x"), against: hash))
    }

    @Test(arguments: PasswordHash.Method.allCases)
    func `a fresh hash verifies, and differs each time`(method: PasswordHash.Method) throws {
        let password = Secret("correct horse")
        let hash = try PasswordHash.make(password, method: method)
        #expect(hash.hasPrefix(method.rawValue))
        #expect(PasswordHash.verify(password, against: hash))
        #expect(!PasswordHash.verify(Secret("correct horsf"), against: hash))
        #expect(try PasswordHash.make(password, method: method) != hash)
    }

    @Test(arguments: [
        "", "*", "*0", "secret", "$apr1$xxxx$yyyy", "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "abJnggxhB/yWI",
        "$1$salt$qJH7.N4xYta3aEG/dfqo/0", "$2b$99$nonsense", "$6$", "$y$",
    ])
    func `weak, unknown and broken hashes match nothing`(hash: String) {
        #expect(!PasswordHash.verify(Secret(hash), against: hash))
        #expect(!PasswordHash.verify(Secret(""), against: hash))
    }

    @Test func `a zero byte does not cut a password short`() throws {
        let hash = try PasswordHash.make(Secret("ab"), method: .sha256)
        #expect(!PasswordHash.verify(Secret("ab\0cd"), against: hash))
    }
}
