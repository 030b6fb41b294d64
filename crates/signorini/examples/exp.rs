use signorini::contact::*;
fn main(){
    let mut args=std::env::args().skip(1);
    let solver=args.next().unwrap(); let tol:f64=args.next().unwrap().parse().unwrap();
    for f in args {
        let p=store::read_problem(std::path::Path::new(&f)).unwrap();
        let mut s=solve::solver_by_name(&solver,tol).unwrap();
        if s.check(&p).is_err(){continue;}
        let t=std::time::Instant::now();
        let sol=s.solve(&p).unwrap();
        let mut dt=t.elapsed().as_secs_f64();
        if dt<0.05 { for _ in 0..((0.05/dt) as usize).min(50) { let t=std::time::Instant::now(); let _=s.solve(&p).unwrap(); dt=dt.min(t.elapsed().as_secs_f64()); } }
        println!("{:45} {:16} rel {:.2e} floor {:.1e} t {:9.1}us sw {} nw {} fac {} piv {} out {} {}",p.name(),sol.status.name(),sol.residual.rel,sol.residual.floor,dt*1e6,sol.work.sweeps,sol.work.newton_steps,sol.work.factorisations,sol.work.pivots,sol.work.outer,sol.method);
    }
}
