import Foundation
import Testing

private let packagesCanBeBuilt = access("/usr/bin/dpkg-deb", X_OK) == 0

/// `make install` and `make deb`, from a built binary.
@Suite(.enabled(if: packagesCanBeBuilt, "there is no dpkg-deb here: no package is built"))
struct PackageTests {
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    private static func package() throws -> (path: String, folder: String) {
        let folder = Scratch.folder("deb")
        let build = try Finished.run(
            "sh", ["\(sources)/Sources/attache/Packaging/Debian/build", AttacheBinary.path, folder],
            environment: ["COMPRESSION": "none"], seconds: 300)
        try #require(build.succeeded, "\(build)")
        let path = build.output.split(separator: "\n").last.map(String.init) ?? ""
        return (path, folder)
    }

    @Test func `the package has the program, its texts, its unit and its rule file`() throws {
        let (path, folder) = try Self.package()
        let list = try Finished.run("dpkg-deb", ["-c", path])
        let files = list.output.split(separator: "\n").map { $0.split(separator: " ") }
        let modes = Dictionary(files.compactMap { line in line.last.map { (String($0), "\(line[0]) \(line[1])") } }) {
            $1
        }
        #expect(modes["./usr/bin/attache"] == "-rwxr-xr-x root/root")
        for file in [
            "lib/systemd/system/attache.service", "lib/systemd/system/attache.socket",
            "usr/lib/sysusers.d/attache.conf", "etc/attache/proxy.conf",
            "usr/share/man/man1/attache.1.gz", "usr/share/man/man5/proxy.conf.5.gz",
            "usr/share/bash-completion/completions/attache", "usr/share/zsh/vendor-completions/_attache",
            "usr/share/fish/vendor_completions.d/attache.fish", "usr/share/doc/attache/copyright",
        ] { #expect(modes["./\(file)"] == "-rw-r--r-- root/root", "\(file): \(list)") }

        let control = try Finished.run("dpkg-deb", ["-e", path, "\(folder)/control"])
        #expect(control.succeeded, "\(control)")
        #expect(Scratch.read("\(folder)/control/conffiles") == "/etc/attache/proxy.conf\n")
        #expect(Scratch.read("\(folder)/control/control").contains("libssl3"))
        // The user's name as chfn takes it.
        #expect(Scratch.bytes("\(folder)/control/postinst").allSatisfy { $0 < 0x80 })

        let extraction = try Finished.run("dpkg-deb", ["-x", path, "\(folder)/root"])
        #expect(extraction.succeeded, "\(extraction)")
        let check = try Finished.run(
            "\(folder)/root/usr/bin/attache", ["check", "\(folder)/root/etc/attache/proxy.conf"])
        #expect(check.succeeded, "\(check)")
        let unit = Scratch.read("\(folder)/root/lib/systemd/system/attache.service")
        #expect(unit.contains("ExecStart=/usr/bin/attache run --config /etc/attache/proxy.conf\n"))
    }

    /// This is the state of Debian 13, where libc6 diverts the loader's path in the link to /usr.
    @Test func `a diversion is taken for no package`() throws {
        let folder = Scratch.folder("diverted")
        try Scratch.write(
            """
            #!/bin/sh
            case "$1 $2" in
            "-S /lib64/"* | "-S /lib/ld-"*)
                echo "diversion by libc6 from: $2"
                echo "diversion by libc6 to: $2.usr-is-merged" ;;
            *) exec /usr/bin/dpkg-query "$@" ;;
            esac

            """, to: "\(folder)/dpkg-query")
        chmod("\(folder)/dpkg-query", 0o755)
        let environment = ["PATH": "\(folder):/usr/sbin:/usr/bin:/sbin:/bin", "COMPRESSION": "none"]
        let packaging = "\(Self.sources)/Sources/attache/Packaging"
        let build = try Finished.run(
            "sh", ["\(packaging)/Debian/build", AttacheBinary.path, folder], environment: environment, seconds: 300)
        #expect(build.succeeded && !build.errorOutput.contains("dpkg-query"), "\(build)")
        let bill = try Finished.run(
            "sh", ["\(packaging)/sbom", AttacheBinary.path, "6.3.1", "libc6"], environment: environment)
        #expect(bill.succeeded && bill.errorOutput.isEmpty, "\(bill)")
        #expect(bill.output.contains(#""relationshipType": "DYNAMIC_LINK", "relatedSpdxElement": "SPDXRef-deb-libc6""#))
    }

    @Test func `a release has the same bytes at any time and in any folder, and its program runs`() throws {
        let folder = Scratch.folder("release")
        let packaging = "\(Self.sources)/Sources/attache/Packaging"
        let environment = ["COMPRESSION": "none", "SOURCE_DATE_EPOCH": "1767225600"]
        let sums = try ["first", "second"].map { name in
            let release = try Finished.run(
                "sh", ["\(packaging)/release", AttacheBinary.path, "\(folder)/\(name)"], environment: environment,
                seconds: 300)
            #expect(release.succeeded && release.errorOutput.isEmpty, "\(release)")
            return Scratch.read("\(folder)/\(name)/SHA256SUMS")
        }
        #expect(sums[0] == sums[1] && sums[0].split(separator: "\n").count == 3, "\(sums)")
        let archive = try #require(sums[0].split(separator: " ").first { $0.contains(".tar.gz") }).split(
            separator: "\n")[0]
        #expect(try Finished.run("tar", ["-xzf", "\(folder)/first/\(archive)", "-C", folder]).succeeded)
        let top = "\(folder)/\(archive.dropLast(".tar.gz".count))"
        let version = try Finished.run("\(top)/attache", ["version"])
        #expect(version.output.hasPrefix("attache "), "\(version)")
        let check = try Finished.run("\(top)/attache", ["check", "\(top)/proxy.conf.example"])
        #expect(check.succeeded, "\(check)")
    }

    @Test func `an installation keeps the rule file that is there`() throws {
        let folder = Scratch.folder("install")
        mkdir("\(folder)/etc", 0o755)
        mkdir("\(folder)/etc/attache", 0o755)
        try Scratch.write("listen 127.0.0.1:1\n", to: "\(folder)/etc/attache/proxy.conf")
        let install = try Finished.run(
            "sh",
            ["\(Self.sources)/Sources/attache/Packaging/install", AttacheBinary.path, folder, "/usr/local"],
            seconds: 300)
        #expect(install.succeeded, "\(install)")
        #expect(Scratch.read("\(folder)/etc/attache/proxy.conf") == "listen 127.0.0.1:1\n")
        let unit = Scratch.read("\(folder)/lib/systemd/system/attache.service")
        #expect(unit.contains("ExecReload=/usr/local/bin/attache reload --config /etc/attache/proxy.conf\n"))
        #expect(access("\(folder)/usr/local/bin/attache", X_OK) == 0)
    }
}
