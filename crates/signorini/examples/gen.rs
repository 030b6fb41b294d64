#[path="../tests/support/generate.rs"] #[allow(dead_code)] mod generate;
use generate::*; use signorini::contact::*;
fn main(){
    let a:Vec<String>=std::env::args().collect();
    let (solver,tol,law,count,maxc)=(&a[1],a[2].parse::<f64>().unwrap(),&a[3],a[4].parse::<u64>().unwrap(),a[5].parse::<usize>().unwrap());
    let law=match law.as_str(){"n"=>Law::Frictionless,"p"=>Law::Planar,"c"=>Law::Circular,"r"=>Law::Rolling,"y"=>Law::Polygonal,_=>Law::Ellipsoidal};
    let mut bad=0; let mut total=0.0; let mut nw=0; let mut judge=Judge::default();
    let mut s=solve::solver_by_name(solver,tol).unwrap();
    for seed in 0..count { let mut rng=Rng(seed*7919+1); let rec=Recipe::random(law,maxc,&mut rng); let (p,r0)=problem(&rec,&mut rng);
        let j0=judge.compute(&p,&r0);
        let t=std::time::Instant::now(); let sol=s.solve(&p).unwrap(); let dt=t.elapsed().as_secs_f64(); total+=dt; nw+=sol.work.newton_steps;
        if !sol.status.is_solved(){bad+=1; println!("seed {seed} {:?} rel {:.1e} floor {:.0e} known {:.0e} t {:.0}ms {:?}",rec,sol.residual.rel,sol.residual.floor,j0.rel,dt*1e3,sol.work);}
        if j0.rel>1e-9 { println!("seed {seed} known solution has {:.1e}",j0.rel);}
    }
    println!("bad {bad} of {count}, total {:.2}s newton {nw}",total);
}
