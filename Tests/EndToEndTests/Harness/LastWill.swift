import Foundation

/// Ends the processes of the run when the run itself ends, even by SIGKILL. A shell in its own session reads names of
/// processes and folders from a pipe. When the pipe's other side is closed, it stops and removes them.
final class LastWill: Sendable {
    static let shared = LastWill()

    private let pipe: Int32

    private init() {
        let script = """
            trap '' INT TERM HUP
            live=' ' folders=
            while read -r verb name; do
                case $verb in
                    started) live="$live$name " ;;
                    ended) live="${live%% $name *} ${live#* $name }" ;;
                    remove) folders="$folders $name" ;;
                esac
            done
            for process in $live; do kill -TERM "$process"; done
            for try in 1 2 3 4 5 6 7 8 9 10; do
                left=
                for process in $live; do kill -0 "$process" && left=yes; done
                [ -n "$left" ] || break
                sleep 0.1
            done
            for process in $live; do kill -KILL -- "-$process"; done
            rm -rf $folders
            """
        var ends: [Int32] = [0, 0]
        let writer = Spawn.closedOnExec { Foundation.pipe(&ends) == 0 ? ends[1] : -1 }
        guard writer >= 0 else { fatalError("no pipe: \(String(cString: strerror(errno)))") }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        do {
            let streams = (ends[0], null, null)
            _ = try Spawn.start("/bin/sh", ["-c", script], environment: [:], directory: "/", streams: streams)
        } catch {
            fatalError("no /bin/sh: \(error)")
        }
        close(ends[0])
        close(null)
        pipe = writer
    }

    func started(_ process: pid_t) { tell("started \(process)") }
    func ended(_ process: pid_t) { tell("ended \(process)") }
    func remove(folder: String) { tell("remove \(folder)") }

    /// A line is shorter than PIPE_BUF, so writes of several threads do not mix.
    private func tell(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(pipe, bytes, bytes.count)
    }
}
