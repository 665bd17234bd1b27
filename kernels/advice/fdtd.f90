! Electric and magnetic fields in three dimensions, in turns. Within a half step every point is free of the others: all
! three loops are parallel and can be tiled as they are. Steps follow each other: time is no parallel loop, and to be
! tiled with it, the loops over space must be skewed by it, since a field is read at neighbours on both sides.
!
! The first half step stands before the loop over time: a nest of its own, and the plain case.
!
! advice: run 12 5
program fdtd
  implicit none
  real(8), allocatable, dimension(:, :, :) :: ex, ey, ez, hx, hy, hz
  character(8) :: argument
  integer :: n, steps, t
  call get_command_argument(1, argument)
  read (argument, *) n
  call get_command_argument(2, argument)
  read (argument, *) steps
  allocate (ex(n, n, n), ey(n, n, n), ez(n, n, n), hx(n, n, n), hy(n, n, n), hz(n, n, n))
  call fill(n, ex, 3)
  call fill(n, ey, 5)
  call fill(n, ez, 7)
  call fill(n, hx, 2)
  call fill(n, hy, 11)
  call fill(n, hz, 13)
  call update_h(n, ex, ey, ez, hx, hy, hz)  ! start:
  ! expect-advice: interprocedural yes; tilable_ops >= 90; parallel_ops >= 95; simd_ops >= 90
  ! expect-advice -O1: tile_depth 4; skew yes; suggests LF-SKW
  ! expect-advice: reuse >= 98; never LF-PAR t
  do t = 1, steps  ! expect: no: the fields of the step before
    call update_e(n, ex, ey, ez, hx, hy, hz)
    call update_h(n, ex, ey, ez, hx, hy, hz)  ! step:
  end do
  print *, sum(ex) + sum(hz)
contains
  subroutine fill(n, field, seed)
    integer, intent(in) :: n, seed
    real(8), intent(out) :: field(n, n, n)
    integer :: i, j, k
    do k = 1, n
      do j = 1, n
        do i = 1, n
          field(i, j, k) = mod(i * seed + j * 3 + k, 17) * 0.01d0
        end do
      end do
    end do
  end subroutine

  subroutine update_e(n, ex, ey, ez, hx, hy, hz)
    integer, intent(in) :: n
    real(8), intent(inout) :: ex(n, n, n), ey(n, n, n), ez(n, n, n)
    real(8), intent(in) :: hx(n, n, n), hy(n, n, n), hz(n, n, n)
    integer :: i, j, k
    do k = 2, n  ! expect: parallel
      do j = 2, n  ! expect: parallel
        do i = 2, n  ! expect: parallel
          ex(i, j, k) = ex(i, j, k) + 0.4d0 * (hz(i, j, k) - hz(i, j - 1, k) - hy(i, j, k) + hy(i, j, k - 1))
          ey(i, j, k) = ey(i, j, k) + 0.4d0 * (hx(i, j, k) - hx(i, j, k - 1) - hz(i, j, k) + hz(i - 1, j, k))
          ez(i, j, k) = ez(i, j, k) + 0.4d0 * (hy(i, j, k) - hy(i - 1, j, k) - hx(i, j, k) + hx(i, j - 1, k))
        end do
      end do
    end do
  end subroutine

  subroutine update_h(n, ex, ey, ez, hx, hy, hz)
    integer, intent(in) :: n
    real(8), intent(in) :: ex(n, n, n), ey(n, n, n), ez(n, n, n)
    real(8), intent(inout) :: hx(n, n, n), hy(n, n, n), hz(n, n, n)
    integer :: i, j, k
    ! expect-advice at start: tile_depth 3; skew no; tilable_ops >= 95; parallel_ops >= 95; simd_ops >= 90; reuse >= 98
    ! expect-advice at start: interchange none; never LF-SKW; never LF-ICH
    ! expect-advice at start: suggests LF-PAR k; suggests LF-SIMD i
    do k = 1, n - 1  ! expect: parallel
      do j = 1, n - 1  ! expect: parallel
        do i = 1, n - 1  ! expect: parallel
          hx(i, j, k) = hx(i, j, k) - 0.4d0 * (ez(i, j + 1, k) - ez(i, j, k) - ey(i, j, k + 1) + ey(i, j, k))
          hy(i, j, k) = hy(i, j, k) - 0.4d0 * (ex(i, j, k + 1) - ex(i, j, k) - ez(i + 1, j, k) + ez(i, j, k))
          hz(i, j, k) = hz(i, j, k) - 0.4d0 * (ey(i + 1, j, k) - ey(i, j, k) - ex(i, j + 1, k) + ex(i, j, k))
        end do
      end do
    end do
  end subroutine
end program
