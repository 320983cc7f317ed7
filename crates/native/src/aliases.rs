//! Aliases of functions of the C library: obsolete names, and names that libraries use among
//! themselves.

/// Defines functions that go on with another, with all arguments where they were.
macro_rules! aliases {
    ($($alias:ident => $name:ident;)*) => {
        $(
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $alias() {
                std::arch::naked_asm!(
                    concat!("jmp qword ptr [rip + ", stringify!($name), "@GOTPCREL]"),
                )
            }
        )*
    };
}

aliases! {
    __pthread_getspecific => pthread_getspecific;
    __pthread_setspecific => pthread_setspecific;
    __pthread_key_create => pthread_key_create;
    __pthread_mutex_destroy => pthread_mutex_destroy;
    __pthread_mutex_init => pthread_mutex_init;
    __pthread_mutex_lock => pthread_mutex_lock;
    __pthread_mutex_trylock => pthread_mutex_trylock;
    __pthread_mutex_unlock => pthread_mutex_unlock;
    __pthread_once => pthread_once;
    __pthread_rwlock_destroy => pthread_rwlock_destroy;
    __pthread_rwlock_init => pthread_rwlock_init;
    __pthread_rwlock_rdlock => pthread_rwlock_rdlock;
    __pthread_rwlock_tryrdlock => pthread_rwlock_tryrdlock;
    __pthread_rwlock_trywrlock => pthread_rwlock_trywrlock;
    __pthread_rwlock_unlock => pthread_rwlock_unlock;
    __pthread_rwlock_wrlock => pthread_rwlock_wrlock;
    __sched_yield => sched_yield;
    pthread_yield => sched_yield;
    __poll => poll;
    __poll_chk => poll;
    __ppoll_chk => ppoll;
    __mq_open_2 => mq_open;
    __select => select;
    __fork => fork;
    __vfork => vfork;
    __clone => clone;
    __sigaction => sigaction;
    __sigpause => sigpause;
    __sigsuspend => sigsuspend;
    __sigtimedwait => sigtimedwait;
    __open => open;
    __open64 => open64;
    __open_2 => open;
    __open64_2 => open64;
    __openat_2 => openat;
    __openat64_2 => openat64;
    __close => close;
    __nanosleep => nanosleep;
    __clock_gettime => clock_gettime;
    __gettimeofday => gettimeofday;
    __pipe => pipe;
    __socket => socket;
    __connect => connect;
    __mmap => mmap;
    __munmap => munmap;
    __mprotect => mprotect;
    __madvise => madvise;
    __sysv_signal => signal;
    sysv_signal => signal;
    bsd_signal => signal;
    ssignal => signal;
    gsignal => raise;
    freopen64 => freopen;
    tmpfile64 => tmpfile;
    __libc_fork => fork;
    __libc_system => system;
    __libc_sigaction => sigaction;
    __libc_msgrcv => msgrcv;
    __libc_msgsnd => msgsnd;
    __vfscanf => vfscanf;
    __vsscanf => vsscanf;
    _IO_printf => printf;
    _IO_fprintf => fprintf;
    _IO_vfprintf => vfprintf;
    _IO_sprintf => sprintf;
    _IO_vsprintf => vsprintf;
    _IO_sscanf => sscanf;
    _IO_vfscanf => vfscanf;
    _IO_puts => puts;
    _IO_fputs => fputs;
    _IO_fwrite => fwrite;
    _IO_fread => fread;
    _IO_fgets => fgets;
    _IO_gets => gets;
    _IO_ungetc => ungetc;
    _IO_setvbuf => setvbuf;
    _IO_setbuffer => setbuffer;
    _IO_fgetpos => fgetpos;
    _IO_fgetpos64 => fgetpos64;
    _IO_fsetpos => fsetpos;
    _IO_fsetpos64 => fsetpos64;
    _IO_fopen => fopen;
    _IO_fdopen => fdopen;
    _IO_fclose => fclose;
    _IO_popen => popen;
}
