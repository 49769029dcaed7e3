import Foundation
import TestSupport
import Testing

/// Acknowledged data is on the disk: with writers that are killed, and with a full disk.
struct StoreDurabilityTests {
    private func prepared() throws -> String {
        let folder = Scratch.folder("durable")
        try Scratch.write("store sqlite credentials.db\n", to: folder + "/proxy.conf")
        try Scratch.write(Account.password, to: folder + "/password", mode: 0o600)
        let run = try attache("set", "http://h/", "first", "--realm", "r", "--password-file", "password", in: folder)
        #expect(run.succeeded, "\(run)")
        return folder
    }

    private func attache(_ words: String..., in folder: String) throws -> Finished {
        try Finished.run(AttacheBinary.path, ["credential"] + words, directory: folder, seconds: 30)
    }

    private func users(in folder: String) throws -> Set<String> {
        let list = try attache("list", in: folder)
        #expect(list.succeeded, "\(list)")
        return Set(
            list.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }.compactMap { line in
                line.split(separator: " ").dropFirst().first { $0 != "*" }.map(String.init)
            })
    }

    @Test func `eight writers that are killed at any point lose nothing that they were told is kept`() throws {
        let folder = try prepared()
        var acknowledged: Set<String> = ["first"]
        let rounds = max(4, Self.writes / 200)
        for round in 1...rounds {
            let writers = try (1...8).map { writer in
                let script = """
                    number=0
                    while number=$((number + 1)); do
                        user=u\(round)-\(writer)-$number
                        "$0" credential set http://h/ $user --realm r --password-file password || exit
                        echo $user >> acknowledged.\(writer)
                    done
                    """
                return try Subprocess("sh", ["-c", script, AttacheBinary.path], directory: folder)
            }
            let enough = Self.writes * round / rounds
            let isUnderWay = Wait.until(seconds: 120) { said(in: folder).count >= enough }
            #expect(isUnderWay, "\(writers.map(\.errorOutput))")
            for writer in writers { _ = writer.kill() }
            acknowledged.formUnion(said(in: folder))
            let kept = try users(in: folder)
            #expect(acknowledged.isSubset(of: kept), "lost: \(acknowledged.subtracting(kept))")
        }
        #expect(acknowledged.count > Self.writes)
        // A copy is made only of a store whose every row opens.
        let copy = try Finished.run(
            AttacheBinary.path, ["store", "migrate", "proxy.conf", "sqlite copy.db { key file credentials.key }"],
            directory: folder, seconds: 60)
        let count = try users(in: folder).count
        #expect(copy.output.hasPrefix("copied and read back: \(count) credentials, "), "\(copy)")
    }

    /// `ATTACHE_WRITES` wants more of them.
    private static let writes =
        ProcessInfo.processInfo.environment["ATTACHE_WRITES"].flatMap { Int($0) } ?? 160

    private func said(in folder: String) -> Set<String> {
        // A line that the kill cut short was not acknowledged.
        let lists = (1...8).map {
            Scratch.read("\(folder)/acknowledged.\($0)").split(
                separator: "\n", omittingEmptySubsequences: false
            ).dropLast()
        }
        return Set(lists.joined().map(String.init))
    }

    @Test(.enabled(if: SmallDisk.isPossible, "a small file system can be mounted by root only"))
    func `on a full disk nothing is lost, and what cannot be kept is said`() throws {
        let folder = try prepared()
        let script = """
            set -e
            mount -t tmpfs -o size=512k,mode=700 attache disk
            cp credentials.db credentials.key disk
            echo 'store sqlite disk/credentials.db' > full.conf
            "$0" credential set http://h/ second --realm r --password-file password --config full.conf
            dd if=/dev/zero of=disk/filler bs=4k 2> /dev/null || true
            number=0
            while "$0" credential set http://h/ more-$number --realm r --password-file password --config full.conf \
                2> said; do
                echo more-$number >> acknowledged.1
                number=$((number + 1))
                [ $number -lt 200 ] || exit 9
            done
            cat said
            rm disk/filler
            "$0" credential set http://h/ after --realm r --password-file password --config full.conf
            "$0" credential list --config full.conf > later
            """
        mkdir(folder + "/disk", 0o700)
        let run = try Finished.run(
            "unshare", ["-m", "sh", "-c", script, AttacheBinary.path], directory: folder, seconds: 60)
        #expect(run.succeeded, "\(run)")
        #expect(run.output.contains("attache: ") && run.output.contains("no room"), "\(run)")
        let expected = ["first", "second"] + said(in: folder)
        let list = Scratch.read("\(folder)/later")
        for user in expected + ["after"] { #expect(list.contains(" \(user) "), "\(user): \(list)") }
    }

    @Test(.enabled(if: SmallDisk.isPossible, "a small file system can be mounted by root only"))
    func `an import or a copy that fills the disk keeps nothing of itself, and succeeds once there is room`() throws {
        let folder = try prepared()
        let entries = (0..<4000).map { "machine host-\($0) login user-\($0) password secret-\($0)\n" }
        try Scratch.write(entries.joined(), to: folder + "/netrc", mode: 0o600)
        let script = """
            set -e
            mount -t tmpfs -o size=700k,mode=700 attache disk
            cp credentials.db credentials.key disk
            echo 'store sqlite disk/credentials.db' > full.conf
            "$0" credential import netrc --config full.conf 2> said && exit 8
            cat said
            "$0" credential list --config full.conf > between
            "$0" credential import netrc > kept 2> /dev/null
            "$0" store migrate proxy.conf full.conf --replace 2> said && exit 9
            cat said
            "$0" credential list --config full.conf | diff between - >&2
            mount -o remount,size=64m disk
            "$0" credential import netrc --config full.conf 2> /dev/null
            "$0" store migrate proxy.conf full.conf --replace
            """
        mkdir(folder + "/disk", 0o700)
        let run = try Finished.run(
            "unshare", ["-m", "sh", "-c", script, AttacheBinary.path], directory: folder, seconds: 120)
        #expect(run.succeeded, "\(run)")
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == 4, "\(run)")
        #expect(lines.prefix(2).allSatisfy { $0.hasPrefix("attache: ") && $0.contains("no room") }, "\(run)")
        #expect(lines.dropFirst(2).first == "kept 4000 credentials: 4000 new", "\(run)")
        #expect(lines.last?.hasPrefix("copied and read back: 4001 credentials") == true, "\(run)")
        let between = Scratch.read(folder + "/between")
        #expect(between.contains(" first ") || between.contains("first  "), "\(between)")
        #expect(!between.contains("user-"), "\(between)")
    }
}

private enum SmallDisk {
    static let isPossible: Bool = {
        let script = "mount -t tmpfs -o size=64k attache /mnt"
        return (try? Finished.run("unshare", ["-m", "sh", "-c", script]).succeeded) ?? false
    }()
}
