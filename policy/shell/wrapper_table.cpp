#include "policy/shell/wrappers.hpp"

#include <algorithm>
#include <array>

namespace gatehouse::policy::shell {
namespace {

// Sorted by name.
constexpr auto table = std::to_array<wrapper_grammar>({
    {.name = "-"}, // zsh
    {.name = "aa-exec",
     .flags = "dvih",
     .values = "pn",
     .longs = "debug verbose immediate help profile= namespace="},
    {.name = "abduco", .flags = "aAcnlrfv", .values = "e", .operands = 1},
    {.name = "adb shell", .flags = "nTtx", .values = "e", .form = command_form::joined_script},
    {.name = "apptainer exec",
     .flags = "ceCpui",
     .values = "BHSWs",
     .longs = "bind= home= scratch= workdir= env= env-file= pwd= overlay= writable writable-tmpfs "
              "contain containall cleanenv no-home nv rocm fakeroot userns pid ipc net no-mount=",
     .operands = 1},
    {.name = "arch"},
    {.name = "asdf exec"},
    {.name = "builtin"},
    {.name = "bundle exec", .longs = "keep-file-descriptors gemfile="},
    {.name = "bunx", .longs = "bun silent package="},
    {.name = "busybox"},
    {.name = "bwrap"},
    {.name = "caffeinate", .flags = "disum", .values = "tw"},
    {.name = "catchsegv"},
    {.name = "ccache", .flags = "cCpszh", .values = "dFMkoX", .longs = "dir= config= config-path="},
    {.name = "cgexec", .values = "g", .longs = "sticky"},
    {.name = "choom", .flags = "hV", .values = "np", .longs = "adjust= pid= help version"},
    {.name = "chpst", .flags = "vPV012", .values = "uUbe/nlLmdorcftp"},
    {.name = "chronic", .flags = "ve"},
    {.name = "chroot", .longs = "groups= userspec= skip-chdir help version", .operands = 1},
    {.name = "chrt",
     .flags = "abdfiomprRvhVe",
     .values = "TPD",
     .longs = "all-tasks batch deadline fifo idle other rr reset-on-fork pid max verbose help "
              "version ext sched-runtime= sched-period= sched-deadline=",
     .operands = 1},
    {.name = "command", .flags = "pvV"},
    {.name = "conda run",
     .flags = "v",
     .values = "np",
     .longs = "name= prefix= cwd= no-capture-output live-stream dev"},
    {.name = "coproc"},
    {.name = "coresched new", .values = "td", .longs = "dest= dest-type="},
    {.name = "cpulimit",
     .flags = "vzifmqr",
     .values = "lpeP",
     .longs = "limit= pid= exe= path= foreground lazy verbose"},
    {.name = "cross-env", .takes_assignments = true},
    {.name = "cross-env-shell", .takes_assignments = true, .form = command_form::joined_script},
    {.name = "daemonize", .flags = "av", .values = "cepoulE"},
    {.name = "datefudge", .flags = "s", .longs = "static", .operands = 1},
    {.name = "dbus-launch",
     .longs = "sh-syntax csh-syntax auto-syntax exit-with-session close-stderr config-file="},
    {.name = "dbus-run-session", .longs = "dbus-daemon= config-file= help version"},
    {.name = "ddev exec", .values = "sd", .longs = "service= dir= raw"},
    {.name = "direnv exec", .operands = 1},
    {.name = "distcc"},
    {.name = "doas", .flags = "Lns", .values = "aCu"},
    {.name = "docker exec",
     .flags = "dit",
     .values = "euw",
     .longs = "detach detach-keys= env= env-file= interactive privileged tty user= workdir= "
              "latest",
     .operands = 1},
    {.name = "docker run",
     .flags = "dPitq",
     .values = "acehlmpuvw",
     .longs = "add-host= attach= cap-add= cap-drop= cidfile= cpus= detach device= dns= "
              "entrypoint= env= env-file= expose= gpus= hostname= init interactive ip= ipc= "
              "label= link= log-driver= log-opt= memory= mount= name= net= network= "
              "network-alias= no-healthcheck pid= platform= privileged publish= publish-all "
              "pull= quiet read-only replace restart= rm runtime= security-opt= shm-size= "
              "sig-proxy stop-signal= tmpfs= tty ulimit= user= userns= volume= volumes-from= "
              "workdir=",
     .operands = 1},
    {.name = "dtach", .flags = "aAcnNEz", .values = "er", .operands = 1},
    {.name = "dumb-init",
     .flags = "cvhV",
     .values = "r",
     .longs = "single-child verbose rewrite= help version"},
    {.name = "eatmydata"},
    {.name = "entr", .flags = "acdnprz", .values = "s", .scripts = "s"},
    {.name = "env",
     .flags = "i0v",
     .values = "aCSu",
     .longs =
         "argv0= ignore-environment null unset= chdir= split-string= block-signal? default-signal? "
         "ignore-signal? list-signal-handling debug help version",
     .takes_assignments = true},
    {.name = "envdir", .operands = 1},
    {.name = "exec", .flags = "cl", .values = "a"},
    {.name = "fakechroot",
     .flags = "shv",
     .values = "cdelb",
     .longs = "use-system-libs lib= elfloader= environment= config-dir= bindir="},
    {.name = "fakeroot",
     .flags = "uhv",
     .values = "lsibf",
     .longs = "lib= faked= unknown-is-real help version"},
    {.name = "faketime", .flags = "mf", .longs = "exclude-monotonic", .operands = 1},
    {.name = "firejail", .longs = "noprofile quiet private? net= profile= appimage debug x11?"},
    {.name = "flatpak-spawn",
     .longs = "host clear-env watch-bus sandbox no-network env= forward-fd= directory= verbose "
              "latest-version"},
    {.name = "flock",
     .flags = "sexnoFuv",
     .values = "wE",
     .longs = "shared exclusive nonblock nb close no-fork unlock wait= timeout= "
              "conflict-exit-code= verbose help version command=",
     .operands = 1,
     .scripts = "c command"},
    {.name = "foot",
     .flags = "FmLv",
     .values = "cCfTatWwDeslp",
     .longs = "config= check-config font= term= title= app-id= window-size-pixels= "
              "working-directory= maximized fullscreen login-shell hold override="},
    {.name = "gamemoderun"},
    {
        .name = "gdb",
        .flags = "nqhv",
        .values = "xdpscb",
        .longs = "args batch nx nh quiet silent ex= eval-command= command= directory= core= pid= "
                 "symbols= exec= se= tty= cd= return-child-result",
    },
    {.name = "gdbserver",
     .longs = "once debug wrapper= no-startup-with-shell startup-with-shell multi attach",
     .operands = 1},
    {.name = "goenv exec"},
    {.name = "gosu", .operands = 1},
    {.name = "hatch run"},
    {.name = "heaptrack", .flags = "dqr", .values = "o", .longs = "debug output= record-only"},
    {.name = "heroku run",
     .values = "aers",
     .longs = "app= env= remote= size= type= exit-code no-tty",
     .form = command_form::joined_script},
    {.name = "hyperfine",
     .flags = "iNh",
     .values = "LSMcmnprsuw",
     .longs = "warmup= min-runs= max-runs= runs= prepare= cleanup= setup= shell= show-output "
              "ignore-failure? style= sort= time-unit= export-json= export-csv= "
              "export-markdown= command-name= parameter-scan= parameter-list= output= input=",
     .scripts = "p prepare c cleanup s setup",
     .form = command_form::script_a_word},
    {.name = "i386", .flags = "vBFILRSTXZ3", .longs = "32bit fdpic-funcptrs help version"},
    {.name = "i686", .flags = "vBFILRSTXZ3", .longs = "32bit fdpic-funcptrs help version"},
    {.name = "icecc"},
    {.name = "ifne", .flags = "n"},
    {.name = "ionice",
     .flags = "thV",
     .values = "cnpPu",
     .longs = "class= classdata= pid= pgid= uid= ignore help version"},
    {.name = "ip exec", .operands = 1},
    {.name = "kitty",
     .flags = "1v",
     .values = "cdoT",
     .longs = "config= directory= override= title= class= name= hold single-instance "
              "instance-group= detach session= start-as= debug-gl"},
    {.name = "ld.so",
     .longs = "library-path= preload= audit= argv0= inhibit-cache inhibit-rpath= list verify "
              "help version list-tunables list-diagnostics glibc-hwcaps-mask= "
              "glibc-hwcaps-prepend="},
    {.name = "libtool",
     .flags = "hnv",
     .values = "d",
     .longs = "mode= tag= dlopen= debug quiet silent verbose dry-run config features finish "
              "preserve-dup-deps no-quiet no-silent no-verbose no-warnings warnings= help version"},
    {.name = "limactl shell", .longs = "shell= workdir= debug", .operands = 1},
    {.name = "linux32", .flags = "vBFILRSTXZ3", .longs = "32bit fdpic-funcptrs help version"},
    {.name = "linux64", .flags = "vBFILRSTXZ3", .longs = "32bit fdpic-funcptrs help version"},
    {.name = "logsave", .flags = "asv", .operands = 1},
    {.name = "ltrace",
     .flags = "bcCfhiLrSttTV",
     .values = "aADeFglnopsuwx",
     .longs = "align= config= demangle indent= help library= output= version where="},
    {.name = "lxc-attach",
     .flags = "eRq",
     .values = "nsoPafuglpv",
     .longs = "name= arch= elevated-privileges? namespaces= remount-sys-proc clear-env keep-env "
              "keep-var= set-var= pty-log= uid= gid= context="},
    {.name = "machinectl shell", .values = "E", .longs = "setenv= uid= quiet", .operands = 1},
    {.name = "mangohud", .longs = "dlsym"},
    {.name = "mispipe", .form = command_form::script_a_word},
    {.name = "multitime", .flags = "lqv", .values = "fInors"},
    {.name = "nice", .values = "n", .longs = "adjustment= help version", .takes_numbers = true},
    {.name = "nocache"},
    {.name = "nocorrect"},
    {.name = "nodenv exec"},
    {.name = "noglob"},
    {.name = "nohup", .longs = "help version"},
    {.name = "npm exec",
     .flags = "y",
     .values = "pcw",
     .longs = "yes no package= call= workspace= workspaces include-workspace-root silent"},
    {.name = "npm x",
     .flags = "y",
     .values = "pcw",
     .longs = "yes no package= call= workspace= workspaces include-workspace-root silent"},
    {.name = "npx",
     .flags = "yq",
     .values = "pcw",
     .longs = "yes no package= call= workspace= workspaces no-install ignore-existing quiet "
              "prefer-offline"},
    {.name = "nsenter",
     .flags = "aFZehVc",
     .values = "tSG",
     .optional = "muinpCUTrwW",
     .longs = "all target= mount? uts? ipc? net? pid? cgroup? user? time? setuid= setgid= "
              "preserve-credentials root? wd? wdns= env no-fork follow-context join-cgroup "
              "keep-caps user-parent help version"},
    {.name = "numactl",
     .flags = "aHsb",
     .values = "iNmClpP",
     .longs = "all interleave= membind= cpunodebind= physcpubind= localalloc preferred= balancing "
              "show hardware"},
    {.name = "optirun", .flags = "vq", .values = "bcdl"},
    {.name = "pdm run", .flags = "s", .values = "p", .longs = "site-packages project= list json"},
    {.name = "pee", .form = command_form::script_a_word},
    {.name = "perf record",
     .flags = "agqvGRNnTSWP",
     .values = "eoFcCpDumj",
     .longs = "event= output= freq= count= call-graph= all-cpus"},
    {.name = "perf stat",
     .flags = "adivBngA",
     .values = "eopCxrtMDIG",
     .longs = "event= repeat= output= append detail per-core per-thread delay= interval-print= "
              "field-separator= null all-cpus"},
    {.name = "perf trace",
     .flags = "asTFhv",
     .values = "eopCtuDm",
     .longs = "event= output= duration= pid= summary with-summary"},
    {.name = "pipenv run"},
    {.name = "pipesz",
     .flags = "gioecqvhV",
     .values = "sfn",
     .longs = "get set= file= fd= stdin stdout stderr check quiet verbose help version"},
    {.name = "pipx run",
     .flags = "vq",
     .longs = "spec= python= no-cache verbose quiet pypackages pip-args= index-url= path "
              "system-site-packages"},
    {.name = "pkexec", .longs = "user= disable-internal-agent keep-cwd help version"},
    {.name = "please",
     .flags = "chlnpvw",
     .values = "adrtu",
     .longs = "check dir= edit help list noprompt purge reason= target= user= version warm"},
    {.name = "pnpm dlx", .flags = "cs", .longs = "package= shell-mode silent"},
    {.name = "pnpm exec",
     .flags = "rc",
     .longs = "recursive parallel shell-mode report-summary resume-from= no-bail"},
    {.name = "pnpx", .flags = "cs", .longs = "package= shell-mode silent"},
    {.name = "poetry run"},
    {.name = "prime-run"},
    {.name = "primusrun"},
    {.name = "prlimit",
     .flags = "hV",
     .values = "po",
     .optional = "cdefilmnqrstuvxy",
     .longs = "pid= output= noheadings raw verbose core? data? nice? fsize? sigpending? memlock? "
              "rss? nofile? msgqueue? rtprio? stack? cpu? nproc? as? locks? rttime? help version"},
    {.name = "proot", .flags = "0Svh", .values = "rRbwqmkic"},
    {.name = "proxychains", .flags = "q", .values = "f"},
    {.name = "proxychains4", .flags = "q", .values = "f"},
    {.name = "pyenv exec"},
    {.name = "rbenv exec"},
    {.name = "repeat", .operands = 1},
    {.name = "rlwrap", .flags = "aAcCeEhiImMnNprRtTuvwWX", .values = "bDfFgHlOqsz"},
    {.name = "rr record", .flags = "nhuw", .values = "cso", .longs = "output-trace-dir="},
    {.name = "run0",
     .flags = "hV",
     .values = "ugDp",
     .longs = "user= group= nice= chdir= property= unit= description= slice= setenv= background= "
              "machine= pty pipe no-ask-password help version"},
    {.name = "runuser",
     .flags = "lmpPfhV",
     .values = "cgGsuw",
     .longs = "command= session-command= group= supp-group= login preserve-environment pty "
              "shell= user= fast whitelist-environment= help version",
     .scripts = "c command session-command",
     .options_anywhere = true,
     .form = command_form::shell_operands},
    {.name = "s6-envdir", .flags = "ifnL", .values = "c", .operands = 1},
    {.name = "s6-setsid", .flags = "dsbfFgqI", .values = "i"},
    {.name = "s6-setuidgid", .operands = 1},
    {.name = "s6-softlimit", .flags = "Hh", .values = "acdflmoprst"},
    {.name = "scan-build", .flags = "vk", .values = "o"},
    {.name = "sccache"},
    {.name = "schroot",
     .flags = "abefhiLlpqrvV",
     .values = "cdnosu",
     .longs = "all all-chroots all-sessions begin-session run-session end-session force chroot= "
              "directory= session-name= option= shell= user= preserve-environment quiet verbose "
              "automatic-session recover-session info list location config debug= help version"},
    {.name = "script",
     .flags = "aefqhV",
     .values = "BEIOTcmo",
     .optional = "t",
     .longs = "append command= log-in= log-out= log-io= log-timing= logging-format= echo= return "
              "flush force quiet output-limit= timing? help version",
     .scripts = "c command",
     .options_anywhere = true,
     .form = command_form::none},
    {.name = "setarch",
     .flags = "vBFILRSTXZ3",
     .longs = "32bit fdpic-funcptrs short-inode addr-compat-layout addr-no-randomize "
              "whole-seconds sticky-timeouts read-implies-exec mmap-page-zero 3gb 4gb uname-2.6 "
              "verbose list help version show?"},
    {.name = "setlock", .flags = "nNxX", .operands = 1},
    {.name = "setpriv",
     .flags = "dhV",
     .longs = "dump clear-groups groups= inh-caps= ambient-caps= bounding-set= init-groups "
              "keep-groups list-caps no-new-privs nnp rgid= regid= egid= ruid= euid= reuid= "
              "securebits= pdeathsig= selinux-label= apparmor-profile= reset-env help version"},
    {.name = "setsid", .flags = "cfwhV", .longs = "ctty fork wait help version"},
    {.name = "sg", .operands = 1},
    {.name = "singularity exec",
     .flags = "ceCpui",
     .values = "BHSWs",
     .longs = "bind= home= scratch= workdir= env= env-file= pwd= overlay= writable writable-tmpfs "
              "contain containall cleanenv no-home nv rocm fakeroot userns pid ipc net no-mount=",
     .operands = 1},
    {.name = "softlimit", .values = "acdflmoprst"},
    {.name = "ssh-agent", .flags = "cDdksh", .values = "aEOPt"},
    {.name = "sshpass", .flags = "evhV", .values = "pfdP"},
    {.name = "stdbuf", .values = "ioe", .longs = "input= output= error= help version"},
    {.name = "steam-run"},
    {.name = "strace",
     .flags = "cCdDfFhiknqrtTvVwxyYzZ",
     .values = "abeEIoOpPsSuUX",
     .longs = "argv0= attach= detach-on= failed-only follow-forks output-separately inject= "
              "fault= kill-on-exit env= user= columns= abbrev= trace= signal= status= "
              "string-limit= strings-in-hex? successful-only summary summary-only "
              "summary-columns= summary-sort-by= summary-syscall-overhead= summary-wall-clock "
              "output= output-append-mode quiet? raw= read= relative-timestamps? "
              "syscall-times? timestamps? trace-path= verbose= write= interruptible= daemonize? "
              "stack-traces instruction-pointer decode-fds? decode-pids= const-print-style= "
              "no-abbrev seccomp-bpf tips? debug help version pidns-translation secontext? "
              "syscall-number"},
    {.name = "su",
     .flags = "lmpPfhV",
     .values = "cgGsTw",
     .longs = "command= session-command= group= supp-group= login preserve-environment pty "
              "shell= fast whitelist-environment= no-pty help version",
     .scripts = "c command session-command",
     .options_anywhere = true,
     .form = command_form::shell_operands},
    {.name = "su-exec", .operands = 1},
    {.name = "sudo",
     .flags = "ABbEeHiKklNnPSsVv",
     .values = "aCcDghpRrTtUu",
     .longs = "askpass background bell auth-type= close-from= login-class= chdir= preserve-env? "
              "edit group= set-home help host= login remove-timestamp reset-timestamp no-update "
              "list non-interactive preserve-groups prompt= chroot= role= stdin shell type= "
              "command-timeout= other-user= user= version validate",
     .takes_assignments = true},
    {.name = "sudo-rs",
     .flags = "ABbEeHiKklNnPSsVv",
     .values = "aCcDghpRrTtUu",
     .longs = "askpass background bell chdir= preserve-env? edit group= set-home host= login "
              "remove-timestamp reset-timestamp non-interactive preserve-groups prompt= stdin "
              "shell other-user= user= version validate list help",
     .takes_assignments = true},
    {.name = "systemd-cat",
     .flags = "hV",
     .values = "tp",
     .longs = "identifier= priority= stderr-priority= level-prefix= namespace= help version"},
    {.name = "systemd-inhibit",
     .longs = "what= who= why= mode= list no-pager no-legend help version"},
    {.name = "systemd-nspawn",
     .flags = "qbanU",
     .values = "DiMuExS",
     .longs = "directory= image= machine= user= bind= bind-ro= quiet boot as-pid2 network-veth "
              "private-network setenv= ephemeral"},
    {.name = "systemd-run",
     .flags = "drtPqGSh",
     .values = "upHMEC",
     .longs =
         "user system scope unit= property= description= slice= slice-inherit expand-environment= "
         "remain-after-exit send-sighup service-type= uid= gid= nice= working-directory= "
         "same-dir setenv= pty pipe quiet shell wait collect no-block no-ask-password "
         "on-active= on-boot= on-startup= on-unit-active= on-unit-inactive= on-calendar= "
         "on-clock-change on-timezone-change path-property= socket-property= "
         "timer-property= host= machine= help version"},
    {.name = "systemd-socket-activate",
     .flags = "adhV",
     .values = "lE",
     .longs = "listen= accept datagram seqpacket inetd setenv= fdname= help version"},
    {.name = "taskset",
     .flags = "apchV",
     .longs = "all-tasks pid cpu-list help version",
     .operands = 1},
    {.name = "time",
     .flags = "apqvV",
     .values = "fo",
     .longs = "append format= output= portability quiet verbose help version"},
    {.name = "timelimit", .flags = "pq", .values = "sStT"},
    {.name = "timeout",
     .flags = "pvf",
     .values = "ks",
     .longs = "foreground preserve-status kill-after= signal= verbose help version",
     .operands = 1},
    {.name = "tini", .flags = "gsvwhl", .values = "pe"},
    {.name = "toolbox run", .values = "cdr", .longs = "container= distro= release="},
    {.name = "torify"},
    {.name = "torsocks", .flags = "di", .values = "uaP"},
    {.name = "toybox"},
    {.name = "trickle", .flags = "s", .values = "udwtlLP"},
    {.name = "tsocks"},
    {.name = "tsp", .flags = "nfdmgBEr", .values = "LDWNl"},
    {.name = "uclampset",
     .flags = "asRhV",
     .values = "mMp",
     .longs = "util-min= util-max= all-tasks pid= system reset-on-fork verbose help version"},
    {.name = "unbuffer", .flags = "p"},
    {.name = "unshare",
     .flags = "fhrcV",
     .values = "SGRwl",
     .optional = "muinpCUT",
     .longs = "mount? uts? ipc? net? pid? user? cgroup? time? fork kill-child? mount-proc? "
              "mount-binfmt? map-user= map-group= map-root-user map-current-user map-auto "
              "map-users= map-groups= map-subids propagation= setgroups= keep-caps root= wd= "
              "setuid= setgid= monotonic= boottime= load-interp= forward-signals help version"},
    {.name = "uv run",
     .flags = "qvnm",
     .values = "pC",
     .longs =
         "with= with-editable= with-requirements= python= project= directory= extra= group= "
         "only-group= no-group= package= env-file= index= index-url= no-sync locked frozen "
         "isolated active all-extras all-groups all-packages no-project module dev no-dev only-dev "
         "offline quiet verbose exact refresh no-cache no-config script gui-script upgrade"},
    {.name = "uvx",
     .flags = "qvn",
     .values = "pwcCf",
     .longs = "from= with= with-editable= with-requirements= python= index= index-url= "
              "extra-index-url= isolated offline refresh no-cache quiet verbose env-file= "
              "constraints= overrides= prerelease= no-config"},
    {.name = "valgrind",
     .flags = "qvhd",
     .longs = "tool= log-file= leak-check= error-exitcode= trace-children= track-origins= "
              "show-leak-kinds= suppressions= xml= xml-file= num-callers= gen-suppressions= "
              "quiet verbose help version"},
    {.name = "vglrun", .flags = "+v-", .values = "cdst"},
    {.name = "volta run", .longs = "node= npm= pnpm= yarn= bundled-npm no-yarn no-pnpm"},
    {.name = "watch",
     .flags = "bcCdegprtwxvh",
     .values = "nqs",
     .longs = "beep color no-color differences? errexit chgexit equexit= interval= precise "
              "no-rerun no-title no-wrap exec help version",
     .form = command_form::joined_script},
    {.name = "watchexec",
     .flags = "crnpvqWzN",
     .values = "wefisdoE",
     .longs = "watch= exts= filter= ignore= restart clear? shell= signal= debounce= postpone "
              "no-vcs-ignore quiet verbose on-busy-update= delay-run= stop-signal= stop-timeout="},
    {.name = "wezterm start",
     .longs = "no-auto-connect always-new-process cwd= class= workspace= position= domain= attach"},
    {.name = "winpty", .flags = "X"},
    {.name = "wsl",
     .values = "du",
     .longs = "distribution= user= cd= exec system",
     .form = command_form::joined_script},
    {.name = "x86_64", .flags = "vBFILRSTXZ3", .longs = "32bit fdpic-funcptrs help version"},
    {.name = "xargs",
     .flags = "0oprtx",
     .values = "adEILnPs",
     .optional = "eil",
     .longs = "null arg-file= delimiter= eof? replace? max-lines? max-args= max-procs= "
              "interactive open-tty no-run-if-empty max-chars= show-limits verbose exit "
              "process-slot-var= help version"},
    {.name = "xinit"},
    {.name = "xvfb-run",
     .flags = "al",
     .values = "efnpsw",
     .longs = "auto-servernum auth-file= error-file= listen-tcp server-num= xauth-protocol= "
              "server-args= wait= help"},
    {.name = "yarn dlx", .flags = "q", .values = "p", .longs = "package= quiet"},
    {.name = "yarn exec"},
});

static_assert(std::is_sorted(table.begin(), table.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));

} // namespace

const wrapper_grammar* find_wrapper(std::string_view name) noexcept {
  const auto found = std::lower_bound(
      table.begin(), table.end(), name,
      [](const wrapper_grammar& grammar, std::string_view key) { return grammar.name < key; });
  return found != table.end() && found->name == name ? &*found : nullptr;
}

} // namespace gatehouse::policy::shell
