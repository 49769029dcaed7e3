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

    /// The first is from Apache's documentation (misc/password_encryptions); the others were made by `openssl passwd
    /// -apr1` and `htpasswd -m`.
    @Test(arguments: [
        ("myPassword", "$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/"), ("", "$apr1$r31.....$iQoXxeL5pW.kaXVrniDCU0"),
        ("a", "$apr1$r31.....$s7OSk4uJoyS8elmZY5Ru40"),
        ("0123456789abcdef", "$apr1$r31.....$LTaWPsXNWWe0zznf5.fh/."),
        ("pässwörd:Æ7q", "$apr1$r31.....$47WdR57uUKdeAafnryYII."),
        (
            "a rather long pass phrase, longer than two blocks of MD5 would be, 0123456789",
            "$apr1$r31.....$ThzB0C6gio5k6MnxEXa1p/"
        ),
        ("Cl13nt-Pass", "$apr1$x$iVaaOx01G/D/QWHD5BHH40"), ("Cl13nt-Pass", "$apr1$xTaziQM8$AgqYWP.5nRUl.xUk2BYUO/"),
    ])
    func `Apache's own hashes verify`(password: String, hash: String) {
        #expect(PasswordHash.isSupported(hash))
        #expect(PasswordHash.verify(Secret(password), against: hash))
        #expect(!PasswordHash.verify(Secret(password + "x"), against: hash))
        #expect(!PasswordHash.verify(Secret(password), against: hash.dropLast() + (hash.hasSuffix("0") ? "1" : "0")))
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
        "", "*", "*0", "secret", "$apr1$xxxx$yyyy", "$apr1$$iVaaOx01G/D/QWHD5BHH40", "$apr1$x$iVaaOx01G/D/QWHD5BHH4!",
        "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "abJnggxhB/yWI",
        "$1$salt$qJH7.N4xYta3aEG/dfqo/0", "$2b$99$nonsense", "$6$", "$y$",
    ])
    func `weak, unknown and broken hashes match nothing`(hash: String) {
        #expect(!PasswordHash.verify(Secret(hash), against: hash))
        #expect(!PasswordHash.verify(Secret(""), against: hash))
    }

    /// The memory is 128 bytes times the block size times the block count.
    @Test(arguments: [
        ("$5$saltstring$5B8vYYiY", true), ("$6$rounds=656000$s$h", true), ("$6$rounds=1000000$s$h", true),
        ("$6$rounds=1000001$s$h", false), ("$5$rounds=999999999$s$h", false),
        ("$5$rounds=99999999999999999999$s$h", false),
        ("$2b$14$CCCCCCCCCCCCCCCCCCCCC.E5YP", true), ("$2y$15$CCCCCCCCCCCCCCCCCCCCC.E5YP", false),
        ("$2a$31$CCCCCCCCCCCCCCCCCCCCC.E5YP", false),
        // 16, 128 and 256 MiB; parameters that no tool writes; a size of 2^30.
        ("$y$j9T$salt$h", true), ("$y$jCT$salt$h", true), ("$y$jDT$salt$h", false), ("$gy$jFT$salt$h", false),
        ("$y$j9T/.$salt$h", false), ("$y$j9zzzzzz$salt$h", false), ("$y$j9$salt$h", false), ("$y$jz5$salt$h", false),
        // 64, 128 and 256 MiB, and twice in parallel.
        ("$7$CU..../....salt$h", true), ("$7$DU..../....salt$h", true), ("$7$EU..../....salt$h", false),
        ("$7$CU....0....salt$h", false), ("$7$C6....", false),
        ("$apr1$x$iVaaOx01G/D/QWHD5BHH40", true),
    ])
    func `the cost of a hash is read from its parameters`(hash: String, isAffordable: Bool) {
        #expect(PasswordHash.isAffordable(hash) == isAffordable)
    }

    @Test(arguments: PasswordHash.Method.allCases)
    func `a fresh hash is affordable`(method: PasswordHash.Method) throws {
        #expect(PasswordHash.isAffordable(try PasswordHash.make(Secret("p"), method: method)))
    }

    @Test(.timeLimit(.minutes(30)))
    func `no password is checked against a hash that would take hours`() {
        let hash = "$6$rounds=999999999$abcdefgh$" + String(repeating: "a", count: 86)
        #expect(PasswordHash.isSupported(hash))
        #expect(!PasswordHash.verify(Secret("p"), against: hash))
    }

    @Test func `a zero byte does not cut a password short`() throws {
        let hash = try PasswordHash.make(Secret("ab"), method: .sha256)
        #expect(!PasswordHash.verify(Secret("ab\0cd"), against: hash))
    }
}
