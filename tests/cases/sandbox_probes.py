#!/usr/bin/env python3
"""Sandbox probes against `gatehouse sandbox` on the real kernel.

usage: sandbox_probes.py PROGRAM CASES.jsonl [-v] [NAME...]
The field `ours` of a case says blocked, allowed or either. Exit 0 where all hold. The probe program is compiled
here with cc; every path lies in a scratch folder.
"""
import os,sys,json,subprocess,shutil,socket,threading,time,signal,re,pty,select,tempfile
PROG=os.path.abspath(sys.argv[1]); CASES=os.path.abspath(sys.argv[2]); V='-v' in sys.argv; NAMES=set(a for a in sys.argv[3:] if a!='-v')
B=tempfile.mkdtemp(prefix='ghp-',dir='/var/tmp'); P=B+'/pr'; WS=P+'/ws'; OUT=P+'/out'; TMPD=B+'/tmpd'; SP=B+'/sp'
os.makedirs(TMPD); os.makedirs(B+'/home')
subprocess.run(['cc','-w','-o',SP,os.path.join(os.path.dirname(os.path.abspath(__file__)),'sandbox_probe.c')],check=True)
ENV={'HOME':B+'/home','TMPDIR':TMPD,'PATH':'/usr/local/bin:/usr/bin:/bin','LANG':'C.UTF-8','TERM':'xterm'}
def prof(entries,net='restricted'): return json.dumps({'type':'managed','file_system':{'type':'restricted','entries':entries},'network':net})
S=lambda k,a,**x: {'path':{'type':'special','value':dict(kind=k,**x)},'access':a}
PTH=lambda p,a: {'path':{'type':'path','path':p},'access':a}
GL=lambda p: {'path':{'type':'glob_pattern','pattern':p},'access':'deny'}
WWE=[S('root','read'),S('project_roots','write'),S('tmpdir','write')]
PROF={'read-only':'read-only','workspace-write':prof(WWE),'workspace-write+slash_tmp':'workspace-write',
 'workspace-write+deny':prof(WWE+[GL(WS+'/**/*.env'),PTH(WS+'/priv','deny'),PTH(WS+'/nope','deny'),PTH(OUT+'/private','deny')]),
 'network-enabled':prof(WWE,'enabled'),
 'workspace-write+deny+reopen':prof(WWE+[PTH(WS+'/priv','deny'),PTH(WS+'/priv/child','read')])}
# --- host resources
open('/dev/null')
def serve(s,tag):
    def f():
        while True:
            try: c,_=s.accept(); c.sendall(tag); c.close()
            except Exception: return
    threading.Thread(target=f,daemon=True).start()
tcp=socket.socket(); tcp.bind(('127.0.0.1',0)); tcp.listen(8); serve(tcp,b'hosttcp'); PORT=tcp.getsockname()[1]
ud=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); ud.bind(('127.0.0.1',PORT)); ud.setblocking(False)
def udpost():
    time.sleep(0.1)
    try: return ud.recv(10)==b'x'
    except Exception: return False
absn='sbxprobe-%d'%os.getpid(); ab=socket.socket(socket.AF_UNIX); ab.bind('\0'+absn); ab.listen(8); serve(ab,b'hostabs')
dgrx=[]
def mkunix(path,dgram=False):
    try: os.unlink(path)
    except OSError: pass
    s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM if dgram else socket.SOCK_STREAM); s.bind(path)
    if dgram:
        s.setblocking(False)
    else: s.listen(8); serve(s,b'hostunix')
    return s
sleeper=subprocess.Popen(['/bin/sleep','600'])
SHK=0x5b0c0de
shmid=subprocess.run(['/bin/sh','-c',f'ipcmk -M 4096 2>/dev/null'],capture_output=True,text=True).stdout
import ctypes; libc=ctypes.CDLL(None,use_errno=True); shm=libc.shmget(SHK,4096,0o1666)
def setup():
    shutil.rmtree(P,ignore_errors=True)
    for d in (WS,OUT,OUT+'/private',WS+'/sub',WS+'/priv'): os.makedirs(d)
    w=lambda p,t: open(p,'w').write(t)
    w(OUT+'/secret','outsecret\n'); w(OUT+'/private/k','private\n'); w(WS+'/f','f\n'); w(WS+'/.env','ENVSECRET\n'); w(WS+'/priv/s','PRIVSECRET\n'); w(OUT+'/target.txt','ENVLINK\n')
    os.symlink(OUT,WS+'/lnk'); os.link(OUT+'/secret',WS+'/hard'); os.symlink(OUT+'/target.txt',WS+'/link.env')
    os.makedirs(B+'/home/.ssh',exist_ok=True); w(B+'/home/.ssh/id_test','SSHKEY\n')
def git(): subprocess.run(['git','init','-q',WS],env=ENV)
def run(mode,cmd,pass_fds=(),tty=False,timeout=40):
    env=dict(ENV)
    argv=[PROG,'sandbox','--profile',PROF[mode],'--cwd',WS,'--','/bin/bash','-c',cmd]
    t=time.time()
    if tty:
        pid,fd=pty.fork()
        if pid==0:
            os.chdir(WS); os.execvpe(argv[0],argv,env)
        buf=b''; end=time.time()+timeout
        while time.time()<end:
            r,_,_=select.select([fd],[],[],0.5)
            if r:
                try: d=os.read(fd,4096)
                except OSError: break
                if not d: break
                buf+=d
        _,st=os.waitpid(pid,0); os.close(fd)
        rc=os.waitstatus_to_exitcode(st); return dict(exit=rc,stdout=buf.decode('utf8','replace').strip()[-900:],stderr='',ms=round((time.time()-t)*1000))
    p=subprocess.Popen(argv,cwd=WS,env=env,stdin=subprocess.DEVNULL,stdout=subprocess.PIPE,stderr=subprocess.PIPE,text=True,pass_fds=pass_fds)
    try: o,e=p.communicate(timeout=timeout); rc=p.returncode
    except subprocess.TimeoutExpired:
        p.kill(); o,e=p.communicate(); rc='timeout'
    return dict(exit=rc,stdout=o.strip()[-900:],stderr=e.strip()[-900:],ms=round((time.time()-t)*1000))
BOTH=['read-only','workspace-write']; WW=['workspace-write']; DN=['workspace-write+deny']
PR=[] # (name, cmd, modes, pre, post(host effect), allowed predicate)
def p(name,cmd,modes=BOTH,pre=None,post=None,allow=None,**k): PR.append((name,cmd,modes,pre,post,allow,k))
ex=os.path.exists; rd=lambda f: open(f).read()
p('write_in_workspace','echo x > newf && cat newf',post=lambda: ex(WS+'/newf'))
p('write_outside_workspace',f'echo x > {OUT}/newf',post=lambda: ex(OUT+'/newf'))
p('append_git_config','echo "[x]" >> .git/config',pre=git,post=lambda: '[x]' in rd(WS+'/.git/config'))
p('create_git_hook','echo x > .git/hooks/pre-commit',pre=git,post=lambda: ex(WS+'/.git/hooks/pre-commit'))
p('git_commit_in_repo','git -c user.name=a -c user.email=a@b add f && git -c user.name=a -c user.email=a@b commit -qm m',pre=git,modes=WW,post=lambda: subprocess.run(['git','-C',WS,'log','-1','--format=%s'],capture_output=True,env=ENV).returncode==0)
p('create_new_git_when_absent','git init -q . ; test -f .git/HEAD',post=lambda: ex(WS+'/.git/HEAD'))
p('mkdir_codex_when_absent','mkdir .codex && echo x > .codex/config.toml',post=lambda: ex(WS+'/.codex/config.toml'))
p('write_existing_codex_config','echo x >> .codex/config.toml',pre=lambda:(os.makedirs(WS+'/.codex'),open(WS+'/.codex/config.toml','w').write('a\n')),post=lambda: rd(WS+'/.codex/config.toml')!='a\n')
p('write_claude_commands','mkdir -p .claude/commands && echo x > .claude/commands/a',modes=WW,post=lambda: ex(WS+'/.claude/commands/a'))
p('write_shell_rc_in_workspace','echo x >> .bashrc; echo x >> .gitconfig; echo x >> .mcp.json; mkdir -p .vscode && echo x > .vscode/settings.json',modes=WW,post=lambda: [n for n in('.bashrc','.gitconfig','.mcp.json','.vscode/settings.json') if ex(WS+'/'+n) and os.path.getsize(WS+'/'+n)>0])
p('rename_git_dir','mv .git .git2',pre=git,post=lambda: ex(WS+'/.git2'))
p('rename_over_missing_codex','mkdir decoy && echo x > decoy/config.toml && mv -T decoy .codex',post=lambda: ex(WS+'/.codex/config.toml'))
p('symlink_as_missing_codex','ln -s sub .codex && echo x > .codex/config.toml',post=lambda: os.path.islink(WS+'/.codex'))
p('bare_repo_workspace_config','echo "[x]" >> config; echo x > hooks/pre-commit',modes=WW,pre=lambda: subprocess.run(['git','init','-q','--bare',WS],env=ENV),post=lambda: ex(WS+'/hooks/pre-commit'))
p('git_pointer_to_missing_gitdir_inside','mkdir -p gd/hooks && echo x > gd/hooks/pre-commit && echo "ref: x" > gd/HEAD',modes=WW,pre=lambda: open(WS+'/.git','w').write('gitdir: gd\n'),post=lambda: ex(WS+'/gd/hooks/pre-commit'))
p('write_slash_tmp',f'echo x > {P}/../tmpprobe_$$ ; echo $?; test -e {P}/../tmpprobe_$$',modes=BOTH+['workspace-write+slash_tmp'],post=lambda: [os.unlink(B+'/'+f) or f for f in os.listdir(B) if f.startswith('tmpprobe_')]!=[])
p('write_own_TMPDIR_value','echo "TMPDIR=$TMPDIR"; mktemp',modes=BOTH)
p('write_dev_shm','echo x > /dev/shm/sbxprobe && cat /dev/shm/sbxprobe',post=lambda: ex('/dev/shm/sbxprobe'))
p('symlink_ws_to_outside_preexisting','echo x > lnk/viasym',post=lambda: ex(OUT+'/viasym'))
p('symlink_created_inside',f'ln -s {OUT} l2 && echo x > l2/viasym2',modes=WW,post=lambda: ex(OUT+'/viasym2'))
p('hardlink_outside_file_into_ws',f'ln {OUT}/secret h2 && echo x >> h2',post=lambda: rd(OUT+'/secret')!='outsecret\n')
p('proc_self_fd_reopen_write',f'{SP} reopen {OUT}/secret',post=lambda: rd(OUT+'/secret')!='outsecret\n')
p('proc_self_cwd_dotdot','echo x > /proc/self/cwd/../out/viacwd',post=lambda: ex(OUT+'/viacwd'))
p('read_denied_outside_dir',f'cat {OUT}/private/k',modes=DN,allow=lambda r,h: 'private' in r['stdout'])
p('read_denied_glob_via_new_symlink','ln -s .env e2; cat e2',modes=DN,allow=lambda r,h: 'ENVSECRET' in r['stdout'])
p('read_denied_glob_via_rename','mv .env e4 && cat e4',modes=DN,allow=lambda r,h: 'ENVSECRET' in r['stdout'])
p('read_denied_glob_created_after_start','echo NEWSECRET > late.env; cat late.env',modes=DN,allow=lambda r,h: 'NEWSECRET' in r['stdout'])
p('read_denied_via_proc_root',f'cat /proc/self/root{WS}/.env',modes=DN,allow=lambda r,h: 'ENVSECRET' in r['stdout'])
p('unmount_deny_mask',f'{SP} umount {WS}/.env; cat .env',modes=DN,allow=lambda r,h: 'ENVSECRET' in r['stdout'])
p('deny_mask_removed_in_nested_userns',f'{SP} usernsmount {WS}/.env; cat .env',modes=DN,allow=lambda r,h: 'ENVSECRET' in r['stdout'])
p('unix_stream_connect_host_path_in_ws',f'{SP} unix {WS}/s.sock',pre=lambda: globals().__setitem__('_u2',mkunix(WS+'/s.sock')))
def dgpost():
    try: return globals()['_u3'].recv(10)==b'dg'
    except Exception: return False
p('unix_abstract_connect_host',f'{SP} abs {absn}')
p('unix_socketpair',f'{SP} socketpair')
for nm,f,t in (('netlink',16,3),('vsock',40,1),('packet',17,3),('alg',38,5),('inet6',10,1),('raw_icmp',2,3)):
    p('socket_family_'+nm,f'{SP} family {f} {t}',modes=['workspace-write'])
p('ptrace_traceme',f'{SP} ptrace')
p('proc1_root_list','ls /proc/1/root/ | head -3; readlink /proc/1/root; tr "\\0" " " < /proc/1/cmdline | cut -c1-80')
p('count_visible_pids','ls /proc | grep -c "^[0-9]"')
p('pidfd_getfd_parent',f'{SP} pidfdgetfd')
p('setuid_syscall',f'{SP} setuid'); p('chmod_setuid_bit',f'{SP} chmodsuid {WS}/suid',modes=WW,post=lambda: ex(WS+'/suid') and bool(os.stat(WS+'/suid').st_mode&0o4000))
p('exec_setuid_su','su -s /bin/sh nobody -c id; su root -c id')
p('remount_root_rw',f'{SP} remount && echo x > {OUT}/afterremount',post=lambda: ex(OUT+'/afterremount'))
p('fsopen',f'{SP} fsopen',modes=WW); p('open_tree_clone',f'{SP} opentree',modes=WW)
p('clone3_userns',f'{SP} clone3user'); p('nested_userns_mount',f'{SP} usernsmount {WS}/.codex'); p('unshare_netns',f'{SP} netns')
p('mknod_null',f'{SP} mknod {WS}/n',modes=WW,post=lambda: ex(WS+'/n'))
p('tiocsti_stdin_tty',f'{SP} tiocsti',tty=True)
p('tiocsti_no_tty',f'{SP} tiocsti')
p('memfd_exec',f'{SP} memfd'); p('bpf_map_create',f'{SP} bpf'); p('keyctl_add_key',f'{SP} addkey'); p('request_key',f'{SP} reqkey'); p('keyctl_get',f'{SP} keyctl'); p('userfaultfd',f'{SP} uffd')
p('personality',f'{SP} personality',modes=WW)
p('open_block_device_vda',f'{SP} openr /dev/vda; ls /dev | head -40 | tr "\\n" " "',allow=lambda r,h: 'open(O_RDONLY): OK' in r['stdout'])
p('write_cgroup_procs',f'{SP} openw /sys/fs/cgroup/pids/cgroup.procs')
p('sysv_shm_host_segment',f'{SP} shmat {SHK}')
p('i386_socket_inet',f'{SP} i386sock',modes=WW); p('x32_socket_inet',f'{SP} x32sock',modes=WW)
p('inherited_fd_write_outside_file',f'{SP} fdwrite 77',fd='file',post=lambda: rd(OUT+'/secret')!='outsecret\n')
p('inherited_connected_tcp_fd',f'{SP} fdsock 77',fd='sock')
p('background_daemon_survives','(setsid sleep 417 >/dev/null 2>&1 &) ; sleep 0.2; echo started',modes=WW,post=lambda: (time.sleep(0.7), subprocess.run(['pgrep','-f','^sleep 417'],capture_output=True,text=True).stdout.strip()!='')[1])
p('write_rootfs_usr','test -w /usr/bin && echo writable || (echo not-writable; exit 1)')
p('proc_child_mem_write',f'{SP} childmem')
p('sysctl_write_same_value_printk_delay',f'{SP} sysctlsame /proc/sys/kernel/printk_delay')
for nm,cmd,pr,po in (('net_on_loopback_tcp_host',f'{SP} tcp {PORT}',None,None),('net_on_unix_stream_host_path',f'{SP} unix {OUT}/s.sock',lambda: globals().__setitem__('_u1',mkunix(OUT+'/s.sock')),None),('net_on_unix_abstract_host',f'{SP} abs {absn}',None,None),('net_on_vsock',f'{SP} family 40 1',None,None),('net_on_netlink',f'{SP} family 16 3',None,None),('net_on_io_uring',f'{SP} iouring',None,None),('net_on_ptrace',f'{SP} ptrace',None,None),('net_on_i386_socket',f'{SP} i386sock',None,None)):
    p(nm,cmd,modes=['network-enabled'],pre=pr,post=po)
p('exit_code_passthrough','exit 37',allow=lambda r,h: r['exit']==37)
p('signal_death_exit_code','kill -SEGV $$',allow=lambda r,h: r['exit'] in (139,-11))
p('command_not_found','definitely-not-a-command',allow=lambda r,h: r['exit']==127)
want={}
for l in open(CASES):
    r=json.loads(l)
    if r['mode'] in PROF and r.get('replay',True): want[(r['probe'],r['mode'])]=r
loose=[];tight=[];n=0
for name,cmd,modes,pre,post,allow,k in PR:
    for mode in modes:
        w=want.get((name,mode))
        if not w or (NAMES and name not in NAMES): continue
        n+=1; setup()
        if pre: pre()
        pf=()
        if k.get('fd')=='file':
            keep=os.open(OUT+'/secret',os.O_WRONLY|os.O_APPEND); os.dup2(keep,77); os.set_inheritable(77,True); pf=(77,)
        if k.get('fd')=='sock':
            a=socket.create_connection(('127.0.0.1',PORT)); os.dup2(a.fileno(),77); os.set_inheritable(77,True); pf=(77,)
        try: r=run(mode,cmd,pass_fds=pf,tty=k.get('tty',False))
        except Exception as e: r={'error':repr(e),'exit':None,'stdout':'','stderr':''}
        if pf: os.close(77)
        h=None
        if post:
            try: h=post()
            except Exception as e: h='err:'+repr(e)
        if allow: ok=bool(allow(r,h))
        elif isinstance(h,(bool,list)): ok=bool(h) or (r['exit']==0 and name in('write_dev_shm',))
        else: ok=(r['exit']==0)
        if ok and w['ours']=='blocked': loose.append((name,mode,r))
        if not ok and w['ours']=='allowed': tight.append((name,mode,r))
if V:
    for t,rows in(('LOOSER',loose),('BLOCKED',tight)):
        for nme,m,r in rows: print(t,nme,m,r.get('exit'),repr(r.get('stdout'))[:120],repr(r.get('stderr'))[:200])
sleeper.terminate()
if shm>=0: libc.shmctl(shm,0,None)
m=re.search(r'(\d+)',shmid or '')
if m: libc.shmctl(int(m.group(1)),0,None)
shutil.rmtree(B,ignore_errors=True)
print(f'{n} sandbox probes: {len(loose)} looser than they must be, {len(tight)} blocked that must work')
sys.exit(0 if n and not loose and not tight else 1)
